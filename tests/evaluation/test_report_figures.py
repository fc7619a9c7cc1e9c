"""The figures of a report."""

import re

import numpy as np
import pytest

from uanet_tf.evaluation.report_figures import risk_figure, score_axis
from uanet_tf.evaluation.report_page import first_of_each_sentence
from uanet_tf.metrics.answer_group import AnswerGroup


def about(figure: str) -> str:
    """The alternative text of a figure."""
    (text,) = re.findall(r'aria-label="([^"]*)"', figure)
    return text


@pytest.mark.parametrize("scores", [[64.0, 64.06], [99.9, 100.0], [0.0], [30.0, 80.0]])
def test_noise_does_not_fill_an_axis(scores):
    axis = score_axis("F1", scores)
    assert 0 <= axis.low <= min(scores) <= max(scores) <= axis.high <= 100
    assert max(scores) - min(scores) < 0.05 * (axis.high - axis.low) or axis.high - axis.low >= 50


def test_a_risk_curve_is_told():
    confidence = np.linspace(1.0, 0.1, 10)
    right = confidence > 0.55  # the five surest ones
    group, plain = (
        AnswerGroup(confidence, each, 1 - confidence, np.full(10, "O"), *[np.arange(10)] * 2)
        for each in (right, np.ones(10, bool))
    )
    figure = risk_figure("tokens", group, plain)
    told = about(figure)
    assert "of them wrong, % at answers taken, %: tagger: 0 at 10, 0 at 30, 0 at 50, " in told
    assert "50 at 100. one pass: 0 at 10, 0 at 30, 0 at 50, 0 at 80, 0 at 100." in told
    assert "lower is better" in figure.split("<figcaption>")[1]


def test_the_first_of_each_sentence():
    scores = np.array([(7 * k + 3) % 10 / 10 for k in range(40)])
    right = np.arange(40) % 2 == 0
    sentences = np.arange(40) // 10
    group = AnswerGroup(scores, right, scores, np.full(40, "PER"), sentences, sentences)
    found = first_of_each_sentence(group, right, scores)
    assert {group.sentences[number] for number in found} == {0, 1, 2, 3}
    assert len(found) == 4
    assert all(right[number] for number in found)
    assert [scores[number] for number in found] == [scores[right].max()] * 4
