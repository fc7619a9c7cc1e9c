import re
import sys

from benchmarks import lite_server


def test_a_row_for_each_server(runs):
    # This environment's own interpreter, which loads TensorFlow for both.
    text = lite_server.table(runs.uanet, sys.executable, tokens=5, starts=1, sentences=50)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[:4]]
    assert [row[0] for row in rows[2:]] == ["SavedModel", "TensorFlow Lite"]
    for row in rows[2:]:
        seconds, processor, memory, half, rate = map(float, row[1:])
        assert min(seconds, processor, half, rate) > 0
        assert 20 < memory < 5_000
    same, tokens, nats = re.search(
        r"^([\d,]+) of ([\d,]+) labels are the same, uncertainty within (\S+) nats\.$", text, re.M
    ).groups()
    assert same == tokens
    assert float(nats) <= 1e-5
