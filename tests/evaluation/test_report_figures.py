"""The figures of a report."""

import re

import numpy as np
import pytest

from uanet_tf.evaluation.report_figures import (
    _score_axis,
    gamma_cost_figure,
    gamma_figure,
    group_figure,
    risk_figure,
    samples_figure,
)
from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.breakdown import GroupScore
from uanet_tf.metrics.threshold_sweep import SweepPoint

POINTS = [SweepPoint(0.1 * place, 60.0 + place, 0.5 - 0.05 * place) for place in range(9)]


def about(figure: str) -> str:
    """The alternative text of a figure."""
    (text,) = re.findall(r'aria-label="([^"]*)"', figure)
    return text


@pytest.mark.parametrize("scores", [[64.0, 64.06], [99.9, 100.0], [0.0], [30.0, 80.0]])
def test_noise_does_not_fill_an_axis(scores):
    axis = _score_axis("F1", scores)
    assert 0 <= axis.low <= min(scores) <= max(scores) <= axis.high <= 100
    assert max(scores) - min(scores) < 0.05 * (axis.high - axis.low) or axis.high - axis.low >= 50


def test_bars_have_intervals_within_the_chart():
    groups = [GroupScore("1-5", 100.0, 1, 100.0, 100.0), GroupScore("6-10", 50.0, 1200, 42.0, 57.5)]
    page = group_figure("F1 by length", groups, "entity")
    assert "1-5: 100.0, 100.0 to 100.0 (1 entity), 6-10: 50.0, 42.0 to 57.5 (1,200 ent" in page
    # An interval without a width is no line, which would go through the number of a bar of 0.
    ((bottom, top),) = re.findall(r'class="interval" d="M[\d.]+ ([\d.]+)V([\d.]+)', page)
    bottom, top = float(bottom), float(top)
    assert bottom > top > 0  # SVG counts downwards
    heights = [float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)"', page)]
    assert min(heights) > 8  # no text is cut off


def test_a_risk_curve_is_told():
    confidence = np.linspace(1.0, 0.1, 10)
    right = confidence > 0.55  # the five surest ones
    group, plain = (
        AnswerGroup(confidence, each, 1 - confidence, np.full(10, "O"), np.arange(10))
        for each in (right, np.ones(10, bool))
    )
    figure = risk_figure("tokens", group, plain)
    told = about(figure)
    assert "tagger: 0.0 % at 20 %, 0.0 % at 50 %, 37.5 % at 80 %, 50.0 % at 100 %." in told
    assert "one pass: 0.0 % at 20 %, 0.0 % at 50 %, 0.0 % at 80 %, 0.0 % at 100 %." in told
    assert "lower is better" in figure.split("<figcaption>")[1]


def test_the_charts_of_gamma_are_told():
    cost = gamma_cost_figure(POINTS, 0.4)
    assert "Refined: 50.0 % at 0, 40.0 % at 0.2, 30.0 % at 0.4, 20.0 % at 0.6, 10.0" in about(cost)
    score = gamma_figure(POINTS, 0.4, "F1")
    assert "F1: 60.00 at 0, 62.00 at 0.2, 64.00 at 0.4, 66.00 at 0.6, 68.00 at 0.8." in about(score)
    assert "higher is better" in score
    assert "best here 68.00 at 0.8" in score


def test_the_chart_of_samples():
    page = samples_figure([(1, 60.0, 100.0), (8, 61.0, 20.0)], "F1", 1)
    assert "F1 over M, the first sentence; higher is better. M = 1: 60.00 at 100" in page
    assert "the first 1,200 sentences" in samples_figure([(1, 60.0, 100.0)], "F1", 1200)
