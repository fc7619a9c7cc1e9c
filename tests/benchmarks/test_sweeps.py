import numpy as np
import pytest
from matplotlib.figure import Figure

import uanet_tf
from benchmarks import sweeps
from benchmarks.plots import Curve, draw
from uanet_lite.columns_file import read_corpus
from uanet_tf.training.corpus_scorer import score_corpus


def scores_of(runs, **settings):
    """Scores of the run under other settings."""
    model = uanet_tf.load_model(runs.uanet)
    for name, value in settings.items():
        setattr(model, name, value)
    return score_corpus(model, read_corpus(runs.data), "ner")


@pytest.fixture(scope="module")
def swept(runs):
    patch = pytest.MonkeyPatch()
    patch.setattr(sweeps, "GAMMAS", (0.0, 0.35, 5.0))
    patch.setattr(sweeps, "SAMPLES", (1, 8))
    with patch.context():
        return sweeps.sweep(runs.uanet, runs.data)


def test_gamma_from_all_refined_to_the_draft(swept, runs):
    text, by_gamma, _, own_draft, measure = swept
    scores = scores_of(runs, threshold=0.35)
    gammas, gated, low, high = by_gamma["gated"]
    assert (measure, gammas) == ("f1", (0.0, 0.35, 5.0))
    assert gated[1] == pytest.approx(scores["f1"])
    assert gated[2] == own_draft == pytest.approx(scores["draft_f1"])
    assert low[0] < gated[0] < high[0]
    for k in range(3):
        assert low[k] <= gated[k] <= high[k]
        assert f"{gated[k]:.2f} ({low[k]:.2f} to {high[k]:.2f})" in text
    shares = [float(line.split("|")[3].strip(" %")) for line in text.splitlines()[2:5]]
    assert shares[0] == 100.0 > shares[1] > shares[2] == 0.0


def test_number_of_samples(swept, runs):
    by_samples = swept.by_samples
    scores = scores_of(runs, num_samples=1)
    counts, drafts, *_ = by_samples["draft"]
    assert counts == (1, 8)
    assert drafts[0] == pytest.approx(scores["draft_f1"])
    assert by_samples["gated"].y[0] == pytest.approx(scores["f1"])


def test_figures(swept, tmp_path):
    patch = pytest.MonkeyPatch()
    with patch.context() as inside:
        inside.setattr(sweeps, "SAMPLES", (1, 8))
        sweeps.plot(swept, tmp_path, "sample")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["gamma_sample.svg", "samples_sample.svg"]
    first = [(tmp_path / name).read_bytes() for name in names]
    assert all(text.startswith(b"<?xml") for text in first)
    assert b"Gamma, nats" in first[0]
    assert b"samples M" in first[1]


def test_the_interval_of_accuracy_is_that_of_a_proportion():
    counts = np.array([[1, 1, 1]] * 80 + [[0, 1, 1]] * 20)
    score, low, high = sweeps._interval(counts)
    assert score == 80.0
    assert (low, high) == pytest.approx((80 - 1.96 * 4, 80 + 1.96 * 4), abs=1.5)


def test_noise_does_not_fill_the_axis(monkeypatch, tmp_path):
    """Of a curve of 0.06 points the y axis covers 4; that of seconds begins at 0."""
    seen = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda f, *a, **k: (seen.append(f.axes[0].get_ylim()), save(f, *a, **k))
    )
    curve = {"gated": Curve([0, 1], [95.06, 95.12], [94.9, 95.0], [95.2, 95.3])}
    draw(tmp_path / "a.svg", curve, x="", y="", title="", least_height=4.0, levels={"draft": 95.0})
    draw(tmp_path / "b.svg", {"seconds": Curve([1, 2], [3, 5])}, x="", y="", title="")
    (low, high), (zero, _) = seen
    assert high - low == pytest.approx(4.0)
    assert low < 94.9 < 95.3 < high
    assert zero == 0


def test_alternative_texts_say_what_is_seen(swept):
    text = sweeps.pictures(swept, "sample")
    assert text.count("](figures/") == 2
    assert f"draft {swept.own_draft:.1f}]" in text
