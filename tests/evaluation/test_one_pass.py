import math

import numpy as np
import pytest

import uanet_tf
from tests.models.contract_setup import make_sentences, make_vocabulary, pad, small
from tests.tagging.fake_model import FakeModel
from uanet_tf.config import Config
from uanet_tf.evaluation.evaluation import one_pass
from uanet_tf.models.build import make_tagger


def test_it_is_undone():
    model = FakeModel()

    def fail():
        with one_pass(model):
            assert (model.num_samples, model.threshold) == (0, math.inf)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (model.num_samples, model.threshold) == (8, 0.35)


def test_of_a_model_with_a_refiner():
    sentences = make_sentences("IOB2", 4)
    tokens = [list(sentence.tokens) for sentence in sentences]
    model = make_tagger(small(Config()), make_vocabulary(sentences, "IOB2"))
    with one_pass(model):
        plain = uanet_tf.tag(model, tokens)
    # Untrained, so every token is above Gamma.
    assert all(all(sentence.refined) for sentence in uanet_tf.tag(model, tokens))
    assert not any(any(sentence.refined) for sentence in plain)
    model.num_samples = 0
    drafted = model.draft(model.features(pad(tokens)))
    for row, sentence in enumerate(plain):
        assert sentence.labels == sentence.draft_labels
        expected = drafted.uncertainty[row, : len(sentence)]
        np.testing.assert_allclose(sentence.uncertainty, expected, rtol=1e-4)
