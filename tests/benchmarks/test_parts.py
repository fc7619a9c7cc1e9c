import re
from pathlib import Path

import uanet_tf
from benchmarks import parts
from uanet_lite.columns_file import read_corpus


def test_rows_and_queries(runs, tmp_path):
    # Times are whole milliseconds: ten times the sentences tell the parts apart.
    data = tmp_path / "data.conll"
    data.write_text(10 * Path(runs.data).read_text(encoding="utf-8"), encoding="utf-8")
    text = parts.table(runs.uanet, str(data), repeats=3)
    times = [float(line.split("|")[2].split()[0]) for line in text.splitlines()[2:8]]
    assert len(times) == 6
    assert times[0] < times[2] < times[5]
    wanted, refined, padded = (
        int(n.replace(",", ""))
        for n in re.findall(r"([\d,]+) (?:tokens|sentences|queries)", text.splitlines()[-1])
    )
    model = uanet_tf.load_model(runs.uanet, num_samples=0)
    tagged = uanet_tf.tag(model, [sentence.tokens for sentence in read_corpus(data)])
    assert 0 < wanted == sum(sum(answer.refined) for answer in tagged)
    assert refined == sum(any(answer.refined) for answer in tagged)
    assert wanted <= padded <= len(tagged) * max(map(len, tagged))
