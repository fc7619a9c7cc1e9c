"""The head that answers in one pass as samples would."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import pad
from tests.models.tagger_setup import make_batch, make_model
from uanet_tf.errors import InputError
from uanet_tf.models.distilled_head import DistilledHead

STATES = np.random.default_rng(1).normal(size=[2, 3, 5]).astype(np.float32)
LOGITS = np.random.default_rng(2).normal(size=[2, 3, 4]).astype(np.float32)


def entropy(p):
    return -(p * np.log(p)).sum(-1)


def test_against_numpy():
    head = DistilledHead(4, hidden_width=6)
    head(STATES, LOGITS)
    random = np.random.default_rng(3)
    weights = [head.hidden_kernel, head.hidden_bias, head.output_kernel, head.output_bias]
    values = [random.normal(size=w.shape).astype(np.float32) for w in weights]
    for weight, value in zip(weights, values, strict=True):
        weight.assign(value)
    outputs = np.tanh(STATES @ values[0] + values[1]) @ values[2] + values[3]
    scores = np.exp(LOGITS + outputs[..., :4])
    p = scores / scores.sum(-1, keepdims=True)
    found = head(STATES, LOGITS)
    np.testing.assert_allclose(found.probabilities, p, atol=1e-5)
    share = 1 / (1 + np.exp(-outputs[..., 4]))
    np.testing.assert_allclose(found.mutual_information, entropy(p) * share, atol=1e-5)
    assert (found.mutual_information.numpy() <= entropy(p) + 1e-6).all()


def test_untrained_it_is_the_pass_without_dropout():
    found = DistilledHead(4)(STATES, LOGITS)
    np.testing.assert_allclose(found.probabilities, tf.nn.softmax(LOGITS), atol=1e-6)


def test_its_config():
    head = DistilledHead.from_config(DistilledHead(4, hidden_width=6, name="x").get_config())
    assert (head.num_classes, head.hidden_width, head.name) == (4, 6, "x")


def test_its_weights_are_in_no_group_of_the_training():
    model = make_model()
    names = {v.name for group in model.variable_groups().values() for v in group}
    assert model.drafter.distilled.weights
    assert not names & {v.name for v in model.drafter.distilled.weights}


@pytest.fixture(scope="module")
def trained():
    """A model whose head says something of its own."""
    model = make_model()
    head = model.drafter.distilled
    head.output_kernel.assign(tf.random.stateless_normal(head.output_kernel.shape, [1, 2]))
    head.was_trained.assign(1.0)
    return model


def test_one_pass_whatever_the_number_of_samples(trained):
    features, _ = make_batch(trained)
    assert trained.num_passes == trained.num_samples == 3
    trained.sampling = "distilled"
    assert trained.num_passes == 1
    one = trained.draft(features)
    trained.num_samples = 7
    other = trained.draft(features)
    trained.sampling = "exact"
    exact = trained.draft(features)
    trained.num_samples = 3
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    assert np.abs(one.probabilities - exact.probabilities).max() > 1e-3
    mask = one.mask.numpy()
    expected = entropy(one.probabilities.numpy()[mask])
    np.testing.assert_allclose(one.uncertainty[mask], expected, atol=1e-5)
    assert not one.uncertainty.numpy()[~mask].any()
    assert one.mutual_information is None


def test_both_kinds_of_uncertainty(trained):
    features, _ = make_batch(trained)
    trained.set_options(sampling="distilled", return_mutual_information=True)
    both = trained.draft(features)
    trained.set_options(uncertainty="mutual_information", return_mutual_information=False)
    other = trained.draft(features)
    trained.set_options(sampling="exact", uncertainty="entropy")
    np.testing.assert_array_equal(both.mutual_information, other.uncertainty)
    mask = both.mask.numpy()
    assert not both.mutual_information.numpy()[~mask].any()
    assert (both.uncertainty > both.mutual_information).numpy()[mask].all()


def test_the_gate_may_read_the_disagreement(trained):
    features, _ = make_batch(trained)
    trained.set_options(sampling="distilled", uncertainty="mutual_information")
    found = trained.draft(features)
    trained.set_options(sampling="exact", uncertainty="entropy")
    mask = found.mask.numpy()
    p = found.probabilities.numpy()[mask]
    assert (found.uncertainty.numpy()[mask] < entropy(p)).all()
    assert (found.uncertainty.numpy()[mask] > 0).all()


def test_an_answer_depends_on_neither_batch_nor_padding(trained):
    trained.sampling = "distilled"
    sentences = [["Ann", "saw", "Bo", "near", "Oslo"], ["Bo"], ["the", "2"]]
    together = trained.tag_batch(**pad(sentences, extra=3))
    for row, sentence in enumerate(sentences):
        alone = trained.tag_batch(**pad([sentence]))
        for name, values in alone.items():
            found = together[name][row, : len(sentence)]
            np.testing.assert_allclose(found, values[0], atol=1e-5, err_msg=name)
    trained.sampling = "exact"


def test_only_a_head_that_learnt_is_used():
    model = make_model()
    with pytest.raises(InputError, match="can be distilled where a head was trained"):
        model.sampling = "distilled"
    assert model.sampling == "exact"
    for settings in ({"decoder": "crf"}, {"decoder": "softmax", "encoder": "bilstm"}):
        with pytest.raises(InputError, match="`sampling` can be distilled where a softmax drafts"):
            make_model(**settings).sampling = "distilled"
