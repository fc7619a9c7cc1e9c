import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from uanet_tf.metrics.risk_coverage import excess_area, risk_coverage

answers = st.integers(1, 5).flatmap(
    lambda size: st.tuples(
        arrays(np.float64, size, elements=st.sampled_from([0.2, 0.5, 0.9])),
        arrays(np.bool_, size),
    )
)


def mean_over_orders(confidence, wrong):
    """The definition: the risk of the first k, over all orders of falling confidence."""
    curves = []
    for order in itertools.permutations(range(len(wrong))):
        if all(confidence[a] >= confidence[b] for a, b in itertools.pairwise(order)):
            curves.append([wrong[list(order[: k + 1])].mean() for k in range(len(wrong))])
    return np.mean(curves, axis=0)


@given(answers)
def test_curve_is_the_mean_over_all_orders(case):
    curve = risk_coverage(*case)
    expected = mean_over_orders(*case)
    np.testing.assert_allclose(curve.risk, expected, atol=1e-12)
    assert curve.area == pytest.approx(100 * expected.mean())


@given(answers)
def test_excess_is_measured_from_the_best_order(case):
    _, wrong = case
    orders = itertools.permutations(range(len(wrong)))
    best = min(risk_coverage(np.array(order), wrong).area for order in orders)
    assert excess_area(*case) == pytest.approx(risk_coverage(*case).area - best)


def test_by_hand():
    curve = risk_coverage(np.array([0.9, 0.5, 0.7]), np.array([False, True, True]))
    np.testing.assert_allclose(curve.coverage, [1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(curve.risk, [0, 1 / 2, 2 / 3])


def test_last_point_is_the_share_of_wrong_answers_whatever_the_order():
    wrong = np.repeat([True, False], [30, 70])
    for seed in range(3):
        confidence = np.random.default_rng(seed).random(100)
        assert risk_coverage(confidence, wrong).risk[-1] == pytest.approx(0.3)
    constant = risk_coverage(np.ones(100), wrong)
    np.testing.assert_allclose(constant.risk, 0.3)
    assert excess_area(~wrong, wrong) == 0.0
