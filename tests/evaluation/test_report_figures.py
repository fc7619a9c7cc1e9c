"""The figures of a report."""

import re

import numpy as np
import pytest

from uanet_lite.tag_schemes import Span
from uanet_tf.evaluation.report_figures import _score_axis, group_figure, risk_figure
from uanet_tf.evaluation.report_page import Example, most_doubtful_right, surest_wrong
from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.breakdown import GroupScore


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


def example(sentence, start, score, right):
    return Example(sentence, Span("PER", start, start + 1), score, score, right, "nothing")


def test_the_first_of_each_sentence():
    examples = [
        example(sentence, start, (7 * sentence + 3 * start) % 10 / 10, right)
        for sentence in range(4)
        for start in range(6)
        for right in (True, False)
    ]
    for choose, right in ((surest_wrong, False), (most_doubtful_right, True)):
        found = choose(examples, 3)
        assert len({each.sentence for each in found}) == len(found) == 3
        assert all(each.right == right for each in found)
        scores = [each.confidence for each in found]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == max(each.confidence for each in examples)
