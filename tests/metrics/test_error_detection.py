"""How well a score finds errors."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from uanet_tf.metrics.error_detection import (
    auroc,
    average_precision,
    excess_area,
    risk_coverage,
    trust,
)
from uanet_tf.metrics.reliability import brier_score


# Few distinct scores, so that there are ties.
def answers(most):
    return st.integers(1, most).flatmap(
        lambda size: st.tuples(
            arrays(np.float64, size, elements=st.sampled_from([0.0, 0.2, 0.5, 0.9])),
            arrays(np.bool_, size),
        )
    )


def pairs_won(score, wrong):
    """The definition: every pair of a wrong and a right answer, ties half."""
    pairs = list(itertools.product(score[wrong], score[~wrong]))
    if not pairs:
        return None
    return 100 * sum((bad > good) + 0.5 * (bad == good) for bad, good in pairs) / len(pairs)


def steps(score, wrong):
    """The definition: down the distinct scores, precision times the gain in recall."""
    if not wrong.any():
        return None
    total, recall = 0.0, 0.0
    for value in sorted(set(score), reverse=True):
        taken = score >= value
        now = wrong[taken].sum() / wrong.sum()
        total += wrong[taken].mean() * (now - recall)
        recall = now
    return 100 * total


@settings(deadline=None)  # scikit-learn is imported by the first
@given(answers(12))
def test_auroc_is_the_share_of_pairs_in_order(case):
    assert auroc(*case) == pytest.approx(pairs_won(*case))


@settings(deadline=None)
@given(answers(12))
def test_average_precision_is_the_sum_over_steps(case):
    assert average_precision(*case) == pytest.approx(steps(*case))


def test_by_hand():
    score, wrong = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False])
    assert auroc(score, wrong) == pytest.approx(75.0)
    assert average_precision(score, wrong) == pytest.approx(100 * (1 / 1 + 2 / 3) / 2)


def test_ends_of_the_scale():
    wrong = np.repeat([True, False], [20, 80])
    assert auroc(wrong, wrong) == average_precision(wrong, wrong) == 100.0
    assert auroc(~wrong, wrong) == 0.0
    assert auroc(np.ones(100), wrong) == 50.0
    assert average_precision(np.ones(100), wrong) == pytest.approx(20.0)


def test_nothing_to_tell_apart():
    assert auroc(np.arange(3.0), np.ones(3, bool)) is None
    assert auroc(np.arange(3.0), np.zeros(3, bool)) is None
    assert average_precision(np.arange(3.0), np.zeros(3, bool)) is None


def mean_over_orders(confidence, wrong):
    """The definition: the risk of the first k, over all orders of falling confidence."""
    curves = []
    for order in itertools.permutations(range(len(wrong))):
        if all(confidence[a] >= confidence[b] for a, b in itertools.pairwise(order)):
            curves.append([wrong[list(order[: k + 1])].mean() for k in range(len(wrong))])
    return np.mean(curves, axis=0)


@given(answers(5))
def test_curve_is_the_mean_over_all_orders(case):
    curve = risk_coverage(*case)
    expected = mean_over_orders(*case)
    np.testing.assert_allclose(curve.risk, expected, atol=1e-12)
    assert curve.area == pytest.approx(100 * expected.mean())


@settings(deadline=None)  # 120 orders
@given(answers(5))
def test_excess_is_measured_from_the_best_order(case):
    _, wrong = case
    orders = itertools.permutations(range(len(wrong)))
    best = min(risk_coverage(np.array(order), wrong).area for order in orders)
    assert excess_area(*case) == pytest.approx(risk_coverage(*case).area - best)


def test_brier_by_hand():
    value = brier_score(np.array([0.9, 0.4, 1.0]), np.array([True, False, False]))
    assert value == pytest.approx((0.01 + 0.16 + 1.0) / 3)


def test_trust_by_hand():
    confidence = np.array([0.9, 0.6, 0.8, 0.7])
    nats = np.array([0.1, 0.2, 0.4, 0.3])
    right = np.array([True, False, True, True])
    scores = trust(confidence, nats, right)
    assert scores.size == 4
    assert scores.wrong == 0.25
    assert scores.mean_confidence == pytest.approx(0.75)
    assert scores.auroc == 1.0
    assert scores.auroc_uncertainty == pytest.approx(1 / 3)  # above one of three
    assert scores.aupr == 1.0
    assert scores.aurc == pytest.approx((0 + 0 + 0 + 1 / 4) / 4)
    assert scores.e_aurc == pytest.approx(0.0)
    assert scores.brier == pytest.approx((0.01 + 0.36 + 0.04 + 0.09) / 4)
    assert scores.ece == pytest.approx((0.1 + 0.6 + 0.2 + 0.3) / 4)


def test_all_right():
    scores = trust(np.array([0.5, 1.0]), np.zeros(2), np.ones(2, bool))
    assert (scores.auroc, scores.auroc_uncertainty, scores.aupr) == (None, None, None)
    assert (scores.wrong, scores.aurc, scores.e_aurc) == (0.0, 0.0, 0.0)
