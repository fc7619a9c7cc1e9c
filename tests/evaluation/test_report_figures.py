"""Axes of the figures of a report."""

import pytest

from uanet_tf.evaluation.report_figures import _score_axis


@pytest.mark.parametrize("scores", [[64.0, 64.06], [99.9, 100.0], [0.0], [30.0, 80.0]])
def test_noise_does_not_fill_an_axis(scores):
    axis = _score_axis("F1", scores)
    assert 0 <= axis.low <= min(scores) <= max(scores) <= axis.high <= 100
    assert max(scores) - min(scores) < 0.05 * (axis.high - axis.low) or axis.high - axis.low >= 50
