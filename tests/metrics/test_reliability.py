import numpy as np
import pytest

from uanet_tf.metrics.reliability import reliability


def test_groups_and_their_intervals():
    confidence = np.array([0.1, 0.5, 0.7, 0.9] + [0.95] * 10)
    right = np.array([False, True, False, True] + [True] * 9 + [False])
    points = reliability(confidence, right, (0.0, 0.5, 0.6, 0.9, 1.0))
    first, last = points[0], points[-1]
    assert [point.size for point in points] == [1, 1, 1, 11]
    assert [point.right for point in points] == pytest.approx([0, 100, 0, 1000 / 11])
    assert (first.confidence, last.confidence) == pytest.approx((10.0, 100 * 10.4 / 11))
    # The roots p of (10/11 - p)^2 = z^2 p (1 - p) / 11; for 0 of 1: 0 and z^2 / (1 + z^2).
    for p in (last.low / 100, last.high / 100):
        assert (10 / 11 - p) ** 2 == pytest.approx(1.959964**2 * p * (1 - p) / 11)
    assert last.low < last.right < last.high
    assert (first.low, first.high) == pytest.approx((0.0, 79.345), abs=0.001)


def test_confidence_outside_the_edges_joins_the_nearest_group():
    points = reliability(np.array([0.0, 1.0]), np.array([True, True]), (0.2, 0.5, 0.8))
    assert [point.confidence for point in points] == [0.0, 100.0]
