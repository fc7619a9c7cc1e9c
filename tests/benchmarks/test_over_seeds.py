"""``benchmarks.over_seeds`` on one small run, as if it were two."""

import itertools

import numpy as np
import pytest

import uanet_tf
from benchmarks import over_seeds
from uanet_lite.columns_file import read_corpus
from uanet_tf.training.development import score_corpus


@pytest.fixture(scope="module")
def found(runs):
    patch = pytest.MonkeyPatch()
    patch.setattr(over_seeds, "GAMMAS", (0.0, 0.35, 5.0))
    patch.setattr(over_seeds, "SAMPLES", (1, 8))
    with patch.context():
        yield over_seeds.measure([runs.uanet, runs.uanet], [runs.uanet], runs.data)


def test_scores_are_those_of_the_run(found, runs):
    model = uanet_tf.load_model(runs.uanet)
    model.threshold = 0.35
    expected = score_corpus(model, read_corpus(runs.data), "ner")
    assert found.by_gamma[:, 1] == pytest.approx(expected["f1"])
    assert found.by_gamma[:, 2] == pytest.approx(expected["draft_f1"])
    assert found.refined[0, 0] == 100.0 > found.refined[0, 1] > found.refined[0, 2] == 0.0
    model.num_samples = 1
    expected = score_corpus(model, read_corpus(runs.data), "ner")
    assert found.drafts[:, 0] == pytest.approx(expected["draft_f1"])
    np.testing.assert_array_equal(found.by_length["baseline"], found.by_length["gated"][:1])


def test_sentences_of_one_length_are_in_one_part():
    lengths = np.array([3, 1, 2, 2, 2, 2, 9, 9, 8, 7])
    parts = over_seeds.parts_by_length(lengths)
    assert sorted(np.concatenate(parts)) == list(range(10))
    spans = [(lengths[part].min(), lengths[part].max()) for part in parts]
    assert all(one[1] < two[0] for one, two in itertools.pairwise(spans))
    assert over_seeds.score(np.array([[1, 2, 1], [1, 1, 1]])) == pytest.approx(80.0)
