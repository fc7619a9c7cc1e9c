import re

import pytest

from benchmarks import latency


def test_a_row_for_each_model(runs):
    text = latency.table(runs.uanet, runs.data, baselines=[runs.crf], tokens=5, repeats=1)
    assert re.match(r"\d+ sentences of 5 tokens, 1 rounds; large matrix product", text)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    assert [row[0] for row in rows[2:]] == ["exact", "distilled", "baseline: crf"]
    assert rows[0][-1] == "p50 over baseline: crf"
    for _, half, most, ratio in rows[2:]:
        assert 0 < float(half) <= float(most)
        assert float(ratio) == pytest.approx(float(half) / float(rows[-1][1]), abs=0.02, rel=0.02)
