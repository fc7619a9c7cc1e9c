import numpy as np
import pytest

from tests.models.model_contract import make_sentences, make_vocabulary, small, train
from uanet_tf.config import Config
from uanet_tf.models.build import make_tagger
from uanet_tf.tagging.sentence_stream import tag
from uanet_tf.training import adaptive_limits
from uanet_tf.training.adaptive_limits import (
    Trace,
    choose_limits,
    limits_within,
    never_settled,
    trace_samples,
)

GAMMA = 0.5
# Ten tokens. By all samples the last three open the gate.
FINAL = [0.01, 0.02, 0.03, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9]
# After none: tokens 6 and 7 have changed sides, token 5 has another label.
FIRST = [0.01, 0.02, 0.03, 0.04, 0.1, 0.25, 0.7, 0.45, 0.75, 0.95]


def make_trace():
    uncertainty = np.array([FIRST, FINAL, FINAL, FINAL], np.float32)
    label_ids = np.zeros([4, 10], int)
    label_ids[0, 5] = 1
    return Trace(uncertainty, label_ids)


def test_limits_without_an_error():
    limits = limits_within(make_trace(), GAMMA, 0.0, gated=True)
    np.testing.assert_allclose(limits[0], [0.1, 0.75])  # below 0.25, above 0.7
    np.testing.assert_allclose(limits[1], [0.4, 0.6])


def test_a_budget_lets_so_many_tokens_be_wrong():
    limits = limits_within(make_trace(), GAMMA, 0.1, gated=True)  # one token in ten
    np.testing.assert_allclose(limits[0], [0.25, 0.45])


def test_without_a_gate_only_certain_tokens_are_settled():
    limits = limits_within(make_trace(), GAMMA, 0.0, gated=False)
    np.testing.assert_allclose(limits[0], [0.1, np.inf])
    np.testing.assert_allclose(limits[1], [0.9, np.inf])  # all: no label changes any more


@pytest.fixture(scope="module", params=["uanet", "softmax"])
def tagger(request):
    sentences = make_sentences("IOB2", count=40)
    config = small(Config()).replace(decoder=request.param, variational_dropout=0.3, num_samples=4)
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    train(tagger, sentences, steps=40)
    return tagger, sentences


def test_enough_labels_stay_and_samples_are_saved(tagger):
    tagger, sentences = tagger
    chosen = choose_limits(tagger, sentences, 0.99)
    assert chosen["agreement"] >= 0.99
    assert tagger.sampling == "exact"
    assert tagger.refine_all is (None if tagger.gate is None else True)
    tokens = [sentence.tokens for sentence in sentences]
    exact = [label for tagged in tag(tagger, tokens) for label in tagged.labels]
    tagger.sampling = "adaptive"
    adaptive = [label for tagged in tag(tagger, tokens) for label in tagged.labels]
    tagger.sampling = "exact"
    same = np.mean(np.array(exact) == np.array(adaptive))
    assert same == pytest.approx(chosen["agreement"])
    trace = trace_samples(tagger, tokens)
    limits = tagger.drafter.adaptive_limits.numpy()
    settled = (trace.uncertainty[0] <= limits[0, 0]) | (trace.uncertainty[0] >= limits[0, 1])
    assert settled.mean() > 0.3


def test_an_agreement_that_cannot_be_had_gives_exact_sampling(tagger, monkeypatch):
    tagger, sentences = tagger
    monkeypatch.setattr(adaptive_limits, "_CERTAIN_BUDGETS", ())
    chosen = choose_limits(tagger, sentences, 1.0)
    limits = [[-1.0, None]] * 3
    assert chosen == {"agreement": 1.0, "budgets": [None, None], "limits": limits}
    np.testing.assert_array_equal(tagger.drafter.adaptive_limits.numpy(), never_settled())


def test_certain_tokens_are_settled_where_uncertain_ones_cannot_be(tagger, monkeypatch):
    tagger, sentences = tagger
    monkeypatch.setattr(adaptive_limits, "_UNCERTAIN_BUDGETS", ())
    chosen = choose_limits(tagger, sentences, 0.99)
    assert chosen["budgets"][0] is not None
    assert chosen["budgets"][1] is None
    limits = tagger.drafter.adaptive_limits.numpy()
    assert (limits[:, 0] >= 0.0).all()
    assert np.isinf(limits[:, 1]).all()
