"""The head that answers in one pass as samples would."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import pad
from tests.models.tagger_setup import make_batch, make_model
from uanet_tf.errors import InputError
from uanet_tf.models.distilled_head import DistilledHead
from uanet_tf.ops.losses import class_softmax

STATES = np.random.default_rng(1).normal(size=[2, 3, 5]).astype(np.float32)
LOGITS = np.random.default_rng(2).normal(size=[2, 3, 4]).astype(np.float32)


def entropy(p):
    return -(p * np.log(p)).sum(-1)


@pytest.fixture(scope="module")
def head():
    """A head with weights of its own."""
    head = DistilledHead(4, hidden_width=6)
    head(STATES, LOGITS)
    random = np.random.default_rng(3)
    for weight in head.weights[:4]:
        weight.assign(random.normal(size=weight.shape))
    return head


def expected(head, states, logits):
    """P, mutual information and f, by NumPy."""
    kernel, bias, output_kernel, output_bias = [w.numpy() for w in head.weights[:4]]
    plain = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    inputs = np.concatenate([states, 3 * plain], axis=-1)
    outputs = np.maximum(inputs @ kernel + bias, 0) @ output_kernel + output_bias
    f = np.clip((1 - plain.max(-1)) / 0.0003 - 1, 0, 1)
    scores = np.exp(logits + f[..., None] * outputs[..., :4])
    p = scores / scores.sum(-1, keepdims=True)
    return p, f * entropy(p) / (1 + np.exp(-outputs[..., 4])), f


# Logits of the likeliest class: the others have 0, so that f is 1, between and 0.
DOUBTS = np.array([[2.0, 8.7, 8.9], [9.15, 9.5, 12.0]], np.float32)[..., None] * [1, 0, 0, 0]


@pytest.mark.parametrize("logits", [LOGITS, DOUBTS.astype(np.float32)], ids=["far", "near"])
def test_against_numpy(head, logits):
    p, disagreement, f = expected(head, STATES, logits)
    assert (f == 1).any()
    if logits is not LOGITS:
        assert ((f > 0) & (f < 1)).any()
        assert (f == 0).any()
    found = head(STATES, logits)
    np.testing.assert_allclose(found.probabilities, p, atol=1e-5)
    np.testing.assert_allclose(found.mutual_information, disagreement, atol=1e-5)
    assert (found.mutual_information.numpy() <= entropy(p) + 1e-6).all()
    for row in range(2):  # a sentence by itself is computed in another way
        alone = head(STATES[row : row + 1], logits[row : row + 1])
        np.testing.assert_allclose(alone.probabilities[0], p[row], atol=1e-5)
        np.testing.assert_allclose(alone.mutual_information[0], disagreement[row], atol=1e-5)


def test_where_the_pass_is_nearly_certain_it_has_no_part(head):
    logits = np.float32([20, 0, 0, 0]) * np.ones([2, 3, 1], np.float32)
    found = head(STATES, logits)
    np.testing.assert_array_equal(found.probabilities, class_softmax(logits))
    assert not found.mutual_information.numpy().any()
    nothing = head(STATES[:0], logits[:0])
    assert nothing.probabilities.shape == (0, 3, 4)
    assert nothing.mutual_information.shape == (0, 3)


def test_padding_is_left_out(head):
    mask = np.array([[True, True, False], [True, False, False]])
    found, everywhere = head(STATES, LOGITS, mask=mask), head(STATES, LOGITS)
    for values, unmasked in zip(found, everywhere, strict=True):
        np.testing.assert_allclose(values[mask], unmasked[mask], rtol=1e-6)
    np.testing.assert_array_equal(found.probabilities[~mask], class_softmax(LOGITS)[~mask])
    assert not found.mutual_information[~mask].numpy().any()


def test_its_part_grows_without_a_step(head):
    """Tokens a little apart get answers a little apart, so no batch moves an answer by much."""
    steps = np.linspace(7.0, 10.0, 12_001, dtype=np.float32)
    logits = np.stack([steps, 0 * steps, 0 * steps, 0 * steps], -1)[None]
    states = np.broadcast_to(STATES[:1, :1], [1, 12_001, 5])
    found = head(np.concatenate([states] * 2), np.concatenate([logits] * 2))
    for values in found:
        # In float32 f has steps of 2e-4: 1 - max q does.
        assert np.abs(np.diff(values[0], axis=0)).max() < 2e-4


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
    trained.set_options(sampling="exact", return_mutual_information=False)
    mask = both.mask.numpy()
    information = both.mutual_information.numpy()
    assert not information[~mask].any()
    assert (information[mask] > 0).all()
    assert (both.uncertainty > both.mutual_information).numpy()[mask].all()


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
