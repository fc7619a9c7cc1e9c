"""A refiner that reads the drafts of the document (`--refiner_context=document`)."""

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.models.tagger_setup import (
    SEED,
    assert_refiner_reads,
    assert_some_are_refined_as_all,
    make_batch,
    make_model,
)
from tests.ops.test_drafts_elsewhere import by_loops
from uanet_tf.data.lookup import KEYS
from uanet_tf.models.label_refiner import ALONE, _drafts_elsewhere, _sometimes_alone
from uanet_tf.ops.drafts_elsewhere import elsewhere_width

TEXTS = [["Oslo", "is", "in", "Norway"], ["in", "Oslo"], ["Oslos", "Norway", "x"], ["Oslo"]]
DOCUMENTS = [7, 7, 7, 9]
SCORES = ("uncertainty", "confidence")
LABELS = ("labels", "draft_labels", "refined_labels", "refined")


@pytest.fixture(scope="module")
def model():
    return make_model(refiner_context="document", refine_all=True, return_probabilities=True)


def answers(model, texts=TEXTS, documents=None):
    inputs = uanet_tf.pad(texts)
    if documents is None:
        return model.tag_batch(inputs["tokens"], inputs["lengths"])
    return model.tag_batch(inputs["tokens"], inputs["lengths"], np.array(documents, np.int32))


def features_of(model, documents=DOCUMENTS, texts=TEXTS):
    return model.features({**uanet_tf.pad(texts), "document": tf.constant(documents)})


def test_the_refiner_reads_the_drafts_of_other_mentions(model):
    features = features_of(model)
    draft = model.draft(features)
    mask = draft.mask.numpy()
    rows = np.repeat(np.arange(len(TEXTS)), mask.sum(1))
    keys = [np.array(DOCUMENTS)[rows] * 2**40 + features[name].numpy()[mask] for name in KEYS]
    p = draft.probabilities.numpy()[mask]
    documents = np.array(DOCUMENTS)[rows]
    expected = by_loops(p, np.ones(len(p), bool), keys, rows, documents)
    found = _drafts_elsewhere(features, draft)
    np.testing.assert_allclose(found.numpy()[mask], expected, atol=1e-6)
    assert_refiner_reads(model, features, draft, found)


def test_the_draft_is_that_of_the_sentence(model):
    """And the same weights as without documents give it."""
    together = answers(model, documents=DOCUMENTS)
    alone = answers(model)
    plain = make_model(refine_all=True)
    plain.drafter.set_weights(model.drafter.get_weights())
    for expected in (alone, answers(plain)):
        np.testing.assert_array_equal(together["draft_labels"], expected["draft_labels"])
        np.testing.assert_allclose(together["uncertainty"], expected["uncertainty"], atol=1e-6)
    assert np.abs(together["probabilities"] - alone["probabilities"]).max() > 1e-4


def test_a_sentence_without_others_is_read_alone(model):
    alone, apart = answers(model), answers(model, documents=[1, 2, 3, 4])
    for name, values in alone.items():
        np.testing.assert_allclose(apart[name], values, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("order", [[3, 1, 0, 2], [0, 1, 2], [2, 0, 1]])
def test_batch_padding_and_the_order_of_rows_change_nothing(model, order):
    whole = answers(model, documents=DOCUMENTS)
    texts = [*(TEXTS[k] for k in order), ["Oslo"] * 9]
    moved = answers(model, texts, [*(DOCUMENTS[k] + 20 for k in order), 1])
    for row, k in enumerate(order):
        width = len(TEXTS[k])
        for name in (*LABELS, *SCORES, "probabilities"):
            np.testing.assert_allclose(
                moved[name][row, :width], whole[name][k, :width], atol=1e-5, err_msg=name
            )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_some_tokens_are_refined_as_all_are(model, share):
    assert_some_are_refined_as_all(model, features_of(model), share)


def test_predict_takes_documents(model):
    inputs = uanet_tf.pad(TEXTS)
    found = model.predict({**inputs, "document": np.array(DOCUMENTS)}, verbose=0)
    expected = answers(model, documents=DOCUMENTS)
    np.testing.assert_allclose(found["probabilities"], expected["probabilities"], atol=1e-5)


def test_in_training_it_reads_what_the_memory_gives(model):
    """Only the refiner, and without gradient to the drafter."""
    features, labels = make_batch(model)
    width = elsewhere_width(len(model.class_names), len(KEYS))
    shape = [*features["form_index"].shape, width]
    losses = [
        model.loss_terms(features, labels, SEED, lambda *_, value=value: tf.fill(shape, value))
        for value in (0.0, 1.0)
    ]
    assert float(losses[0]["draft"]) == float(losses[1]["draft"])
    assert float(losses[0]["refined"]) != float(losses[1]["refined"])
    with tf.GradientTape() as tape:
        loss = model.loss_terms(features, labels, SEED, lambda _, p: _spread(p, shape))["refined"]
    assert all(g is None for g in tape.gradient(loss, model.drafter.trainable_variables))


def test_a_share_of_the_training_sentences_is_read_alone():
    given = tf.ones([2_000, 3, 4])
    found = _sometimes_alone(given, SEED).numpy()
    kept = found.any(axis=(1, 2))
    assert kept.mean() == pytest.approx(1 - ALONE, abs=0.05)
    np.testing.assert_array_equal(found, np.where(kept[:, None, None], given, 0))
    np.testing.assert_array_equal(found, _sometimes_alone(given, SEED))


def _spread(p, shape):
    return tf.zeros(shape) + tf.reduce_mean(p)
