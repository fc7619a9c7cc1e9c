"""The figures of a report."""

import re

import pytest

from uanet_tf.evaluation.report_figures import _score_axis, group_figure
from uanet_tf.metrics.group_scores import GroupScore


@pytest.mark.parametrize("scores", [[64.0, 64.06], [99.9, 100.0], [0.0], [30.0, 80.0]])
def test_noise_does_not_fill_an_axis(scores):
    axis = _score_axis("F1", scores)
    assert 0 <= axis.low <= min(scores) <= max(scores) <= axis.high <= 100
    assert max(scores) - min(scores) < 0.05 * (axis.high - axis.low) or axis.high - axis.low >= 50


def test_bars_have_intervals_within_the_chart():
    groups = [GroupScore("1-5", 100.0, 1, 100.0, 100.0), GroupScore("6-10", 50.0, 1200, 42.0, 57.5)]
    page = group_figure("F1 by length", groups, "entities")
    assert "6-10: 50.0, 42.0 to 57.5 (1,200 entities)" in page  # the alternative text
    (first, second) = re.findall(r'class="interval" d="M[\d.]+ ([\d.]+)V([\d.]+)', page)
    assert first[0] == first[1]
    bottom, top = map(float, second)
    assert bottom > top > 0  # SVG counts downwards
    heights = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)"', page)]
    assert min(heights) > 8  # no text is cut off
