"""Calibration error and reliability."""

import numpy as np
import pytest

from uanet_tf.metrics.reliability import calibration_error, reliability


def test_by_hand():
    """Two bins: 0.6 and 0.8 with one of two right, 0.1 that is wrong."""
    confidence, right = np.array([0.6, 0.8, 0.1]), np.array([True, False, False])
    expected = 2 / 3 * abs(0.7 - 0.5) + 1 / 3 * 0.1
    assert calibration_error(confidence, right, bins=2) == pytest.approx(100 * expected)


def test_it_is_0_where_confidence_tells_the_truth():
    right = np.repeat([True, False], [700, 300])
    assert calibration_error(np.full(1000, 0.7), right) == pytest.approx(0.0, abs=1e-9)
    assert calibration_error(np.full(1000, 0.9), right) == pytest.approx(20.0)
    assert calibration_error(np.full(1000, 0.4), right) == pytest.approx(30.0)


def test_certainty_has_a_bin():
    assert calibration_error(np.ones(2), np.array([True, False])) == pytest.approx(50.0)
    assert calibration_error(np.zeros(2), np.array([False, False])) == 0.0


def test_errors_of_one_bin_that_cancel_out_are_forgiven_and_those_of_two_are_not():
    confidence = np.array([0.25, 0.75])
    right = np.array([True, False])
    assert calibration_error(confidence, right, bins=1) == pytest.approx(0.0)
    assert calibration_error(confidence, right, bins=2) == pytest.approx(75.0)


def test_reliability_has_the_bins_that_hold_an_answer():
    found = reliability(np.array([0.05, 0.95, 1.0]), np.array([False, True, True]), bins=10)
    np.testing.assert_allclose(found.confidence, [0.05, 0.975])
    assert found.right.tolist() == [0.0, 1.0]
    assert found.size.tolist() == [1, 2]
