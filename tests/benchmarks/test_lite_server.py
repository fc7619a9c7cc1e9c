import sys

from benchmarks import lite_server


def test_a_row_for_each_server(runs):
    # This environment's own interpreter, which loads TensorFlow for both.
    text = lite_server.table(runs.uanet, sys.executable, tokens=5, starts=1)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    assert [row[0] for row in rows[2:]] == ["SavedModel", "TensorFlow Lite"]
    for row in rows[2:]:
        seconds, processor, memory, half = map(float, row[1:])
        assert min(seconds, processor, half) > 0
        assert 20 < memory < 5_000
