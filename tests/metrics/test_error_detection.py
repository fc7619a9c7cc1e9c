import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from uanet_tf.metrics.error_detection import auroc, average_precision

# Few distinct scores, so that there are ties.
answers = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        arrays(np.float64, size, elements=st.sampled_from([0.0, 0.1, 0.5, 0.9])),
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


@given(answers)
def test_auroc_is_the_share_of_pairs_in_order(case):
    assert auroc(*case) == pytest.approx(pairs_won(*case))


@given(answers)
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
