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


def test_bins_between_edges_and_their_intervals():
    confidence = np.array([0.1, 0.5, 0.7, 0.9] + [0.95] * 10)
    right = np.array([False, True, False, True] + [True] * 9 + [False])
    found = reliability(confidence, right, (0.0, 0.5, 0.6, 0.9, 1.0))
    assert found.size.tolist() == [1, 1, 1, 11]
    np.testing.assert_allclose(found.right, [0, 1, 0, 10 / 11])
    np.testing.assert_allclose(found.confidence[[0, -1]], [0.1, 10.4 / 11])
    # The roots p of (10/11 - p)^2 = z^2 p (1 - p) / 11; for 0 of 1: 0 and z^2 / (1 + z^2).
    low, high = found.low[-1], found.high[-1]
    for p in (low, high):
        assert (10 / 11 - p) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / 11)
    assert low < found.right[-1] < high
    assert (found.low[0], found.high[0]) == pytest.approx((0.0, 0.79345), abs=1e-5)


def test_confidence_outside_the_edges_joins_the_nearest_bin():
    found = reliability(np.array([0.0, 1.0]), np.array([True, True]), (0.2, 0.5, 0.8))
    assert found.confidence.tolist() == [0.0, 1.0]
