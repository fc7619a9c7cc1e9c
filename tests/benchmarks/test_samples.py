import numpy as np

from benchmarks import samples


def test_rows_for_each_m_and_kind_of_masks(runs, monkeypatch):
    monkeypatch.setattr(samples, "COUNTS", (2, 8))
    monkeypatch.setattr(samples, "_MANY", 64)
    text = samples.table([runs.uanet], runs.data, most=20, gammas=[0.35])
    rows = [row.strip("| ").split(" | ") for row in text.splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        ["2", "independent"],
        ["2", "balanced"],
        ["8", "independent"],
        ["8", "balanced"],
    ]
    figures = np.array([[float(cell.split()[0]) for cell in row[2:]] for row in rows])
    assert figures.shape == (4, 3)
    assert (figures > 0).all()
    assert (figures[:, 1] <= 100).all()
    assert (figures[2:, 0] < figures[:2, 0]).all()  # more samples come nearer


def test_equal_gates():
    one, other = (
        samples.Drafts(np.array(p), np.zeros(3))
        for p in ([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    )
    np.testing.assert_allclose(one.uncertainty, [np.log(2), np.log(2), 0], atol=1e-6)
    assert samples.equal_gates(one, other, 0.5) == 50.0
    assert samples.equal_gates(one, other, 0.2) == 100.0
    assert samples.equal_gates(one, other, 0.9) == 100.0
