"""The layer that turns probabilities of labels into calibrated confidence."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.arguments import ArgumentError
from uanet_tf.metrics.logistic_map import apply_logistic_map
from uanet_tf.models.confidence import Acceptance, Calibration
from uanet_tf.models.results import Decision, Draft
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.losses import entropy

CLASSES = ["O", "S-PER", "S-LOC"]
MAP = np.array([[0.5, -1.0, 0.25], [0.75, -0.5, 0.0], [1.5, 0.0, 1.0], [1.0, -2.0, -0.5]])
P = np.array([[[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.05, 0.05, 0.9]]], np.float32)
P_HAT = np.array([[[0.1, 0.8, 0.1], [0.98, 0.01, 0.01], [0.25, 0.5, 0.25]]], np.float32)
IDS = np.array([[0, 0, 2]], np.int32)
REFINED = np.array([[False, True, False]])


def decision(ids=IDS, refined=REFINED, **changes):
    mask = tf.ones(np.shape(ids), tf.bool)
    draft = Draft(tf.constant(ids), tf.constant(P), entropy(P), mask)
    probabilities = P if refined is None else np.where(refined[..., None], P_HAT, P)
    return Decision(tf.constant(ids), tf.constant(probabilities), draft, None, refined, **changes)


def fitted(rows=MAP):
    layer = Calibration(CLASSES)
    layer.set_map(rows)
    return layer


def test_against_numpy():
    """Each of four groups of labels has its row: by source, and whether it is outside."""
    u = entropy(P).numpy()[0]
    for ids, refined, rows in (
        ([[0, 0, 2]], [[False, True, False]], [2, 3, 0]),
        ([[1, 2, 0]], [[True, False, True]], [1, 0, 3]),
    ):
        ids, refined = np.array(ids, np.int32), np.array(refined)
        found = fitted().confidence(decision(ids, refined)).numpy()[0]
        for column, row in enumerate(rows):
            source = P_HAT if refined[0, column] else P
            p = source[0, column, ids[0, column]].astype(np.float64)
            features = np.array([[np.log(p / (1 - p)), u[column]]])
            expected = apply_logistic_map(MAP[row], features)[0]
            assert found[column] == pytest.approx(expected, abs=1e-5)


def test_without_a_refiner_all_labels_are_the_drafts():
    none = fitted().confidence(decision(refined=None))
    np.testing.assert_array_equal(
        none, fitted().confidence(decision(refined=np.zeros_like(REFINED)))
    )


def test_a_row_of_one_and_zeros_is_the_probability():
    found = fitted(np.tile([1.0, 0.0, 0.0], (4, 1))).confidence(decision())
    np.testing.assert_allclose(found, decision().confidence, atol=1e-6)


def test_certain_labels_are_finite_and_close_ones_told_apart():
    """Near 1 a float32 has no digits left; the other classes' sum has."""
    near = np.array([[[1.0, 0, 0], [1 - 2e-5, 2e-5, 0], [1 - 1e-5, 1e-5, 0]]], np.float32)
    ids = np.zeros([1, 3], np.int32)
    nothing = {"uncertainty": np.zeros([1, 3], np.float32), "refined": REFINED & False}
    layer = fitted(np.tile([0.25, 0.0, 0.0], (4, 1)))
    found = layer(near, ids, **nothing).numpy()[0]
    assert np.isfinite(found).all()
    logits = np.log(found / (1 - found))
    assert logits[2] - logits[1] == pytest.approx(0.25 * np.log(2), abs=1e-3)
    never = layer(near, ids + 2, **nothing)
    assert np.isfinite(never).all()


def test_calibrated_confidence_is_zero_at_padding():
    found = decision(calibrated=fitted().confidence(decision()))
    mask = tf.constant([[True, True, False]])
    padded = found._replace(draft=found.draft._replace(mask=mask))
    assert padded.confidence[0, 2] == 0.0
    assert (padded.confidence[0, :2] == found.confidence[0, :2]).numpy().all()


def test_it_is_fitted_once_a_map_is_set():
    layer = Calibration(CLASSES)
    assert not layer.is_fitted
    assert not layer.trainable_variables
    layer.set_map(MAP)
    assert layer.is_fitted
    assert sum(w.shape.num_elements() for w in layer.weights) == Calibration.num_values


def test_a_graph_that_awaits_a_map_follows_it():
    layer = Calibration(CLASSES)
    layer.await_map()
    confidence = graph_function()(lambda: layer.confidence(decision()))
    np.testing.assert_array_equal(confidence(), decision().confidence)
    layer.set_map(MAP)
    np.testing.assert_allclose(confidence(), fitted().confidence(decision()), rtol=1e-6)


@pytest.mark.parametrize("rows", [np.zeros([3, 3]), np.full([4, 3], np.nan), np.zeros(12)])
def test_a_wrong_map_is_refused(rows):
    layer = Calibration(CLASSES)
    with pytest.raises(ArgumentError, match="`rows` must be"):
        layer.set_map(rows)
    assert not layer.is_fitted


def test_config_of_the_calibration():
    layer = Calibration.from_config(Calibration(CLASSES, name="x").get_config())
    assert (layer.classes, layer.name) == (CLASSES, "x")


CONFIDENCE = np.array([[0.9, 0.5, 0.75, 0.999]], np.float32)
LABEL_IDS = np.array([[1, 2, 1, 0]], np.int32)


def test_each_class_has_its_threshold():
    layer = Acceptance(3)
    layer.set_target(0.95, [2.0, 0.75, 0.5])
    np.testing.assert_array_equal(layer(CONFIDENCE, LABEL_IDS), [[True, True, True, False]])
    layer.set_target(0.95, [0.0, np.nextafter(np.float32(0.75), np.float32(1)), 2.0])
    np.testing.assert_array_equal(layer(CONFIDENCE, LABEL_IDS), [[True, False, False, True]])


def test_there_is_no_target_until_one_is_set():
    layer = Acceptance(3)
    assert layer.target_value == 0.0
    layer.set_target(0.95, [1.0] * 3)
    assert layer.target_value == 0.95
    layer.set_target(0.0, [0.0] * 3)
    assert layer.target_value == 0.0
    assert not layer.trainable_variables


@pytest.mark.parametrize(
    ("target", "thresholds"),
    [(1.0, [0.5] * 3), (-0.1, [0.5] * 3), (0.9, [0.5] * 2), (0.9, [np.nan] * 3), (0.9, [-1.0] * 3)],
)
def test_wrong_targets_are_refused(target, thresholds):
    layer = Acceptance(3)
    with pytest.raises(ArgumentError, match="`target` must be in"):
        layer.set_target(target, thresholds)
    assert layer.target_value == 0.0


def test_config_of_acceptance():
    layer = Acceptance.from_config(Acceptance(3, name="x").get_config())
    assert (layer.num_classes, layer.name) == (3, "x")
