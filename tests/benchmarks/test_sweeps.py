import pytest

import uanet_tf
from benchmarks import sweeps
from uanet_tf.data.conll import read_corpus
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
    text, by_gamma, _, measure = swept
    scores = scores_of(runs, threshold=0.35)
    gammas, gated = by_gamma["gated"]
    assert (measure, gammas) == ("f1", (0.0, 0.35, 5.0))
    assert gated[1] == pytest.approx(scores["f1"])
    assert gated[2] == pytest.approx(scores["draft_f1"])
    shares = [float(line.split("|")[3].strip(" %")) for line in text.splitlines()[2:5]]
    assert shares[0] == 100.0 > shares[1] > shares[2] == 0.0


def test_number_of_samples(swept, runs):
    _, _, by_samples, _ = swept
    scores = scores_of(runs, num_samples=1)
    counts, drafts = by_samples["draft"]
    assert counts == (1, 8)
    assert drafts[0] == pytest.approx(scores["draft_f1"])
    assert by_samples["gated"][1][0] == pytest.approx(scores["f1"])


def test_figures(swept, tmp_path):
    _, by_gamma, by_samples, measure = swept
    patch = pytest.MonkeyPatch()
    with patch.context() as inside:
        inside.setattr(sweeps, "SAMPLES", (1, 8))
        sweeps.plot(by_gamma, by_samples, measure, tmp_path, "sample")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["gamma_sample.svg", "samples_sample.svg"]
    first = [(tmp_path / name).read_bytes() for name in names]
    assert all(text.startswith(b"<?xml") for text in first)
    assert b"Gamma, nats" in first[0]
    assert b"samples M" in first[1]
