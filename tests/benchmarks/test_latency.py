import re

import pytest

from benchmarks import latency


@pytest.mark.parametrize("batch", [1, 3])
def test_a_row_for_each_model(runs, batch):
    text = latency.table(
        runs.uanet, runs.data, baselines=[runs.crf], tokens=5, batch=batch, repeats=2
    )
    assert re.match(rf"\d+ requests of {batch} sentences of 5 tokens, 2 rounds", text)
    assert "large matrix product" in text.splitlines()[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    assert [row[0] for row in rows[2:]] == ["exact", "distilled", "baseline: crf"]
    assert rows[0][-1] == "p50 over baseline: crf"
    medians = [[float(part) for part in re.findall(r"[\d.]+", row[1])] for row in rows[2:]]
    for (_, _, most, ratio), (half, low, high) in zip(rows[2:], medians, strict=True):
        assert 0 < low <= high
        assert low <= half <= min(high, float(most))
        assert float(ratio) == pytest.approx(half / medians[-1][0], abs=0.02, rel=0.02)
