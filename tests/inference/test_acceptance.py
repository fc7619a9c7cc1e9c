"""The layer that marks what is sure enough."""

import numpy as np
import pytest

from uanet_tf.errors import ArgumentError
from uanet_tf.inference.acceptance import Acceptance

CONFIDENCE = np.array([[0.9, 0.5, 0.75, 0.999]], np.float32)
IDS = np.array([[1, 2, 1, 0]], np.int32)


def test_each_class_has_its_threshold():
    layer = Acceptance(3)
    layer.set_target(0.95, [2.0, 0.75, 0.5])
    np.testing.assert_array_equal(layer(CONFIDENCE, IDS), [[True, True, True, False]])
    layer.set_target(0.95, [0.0, np.nextafter(np.float32(0.75), np.float32(1)), 2.0])
    np.testing.assert_array_equal(layer(CONFIDENCE, IDS), [[True, False, False, True]])


def test_there_is_no_target_until_one_is_set():
    layer = Acceptance(3)
    assert layer.target_precision == 0.0
    layer.set_target(0.95, [1.0] * 3)
    assert layer.target_precision == 0.95
    layer.set_target(0.0, [0.0] * 3)
    assert layer.target_precision == 0.0
    assert not layer.trainable_variables


@pytest.mark.parametrize(
    ("target", "thresholds"),
    [(1.0, [0.5] * 3), (-0.1, [0.5] * 3), (0.9, [0.5] * 2), (0.9, [np.nan] * 3), (0.9, [-1.0] * 3)],
)
def test_wrong_targets_are_refused(target, thresholds):
    layer = Acceptance(3)
    with pytest.raises(ArgumentError, match="`target` must be in"):
        layer.set_target(target, thresholds)
    assert layer.target_precision == 0.0


def test_its_config():
    layer = Acceptance.from_config(Acceptance(3, name="x").get_config())
    assert (layer.num_classes, layer.name) == (3, "x")
