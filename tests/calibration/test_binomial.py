import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from uanet_tf.calibration.binomial import upper_tail


@given(st.integers(0, 60), st.floats(0, 1), st.floats(0, 1))
def test_tail_equals_the_sum_of_its_terms(trials, share, probability):
    successes = round(share * trials)
    terms = [
        math.comb(trials, k) * probability**k * (1 - probability) ** (trials - k)
        for k in range(successes, trials + 1)
    ]
    assert upper_tail(successes, trials, probability) == pytest.approx(math.fsum(terms), abs=1e-12)


@given(st.floats(1, 300), st.floats(0.01, 1), st.floats(0.01, 0.99))
def test_fractions_are_the_beta_distribution(trials, share, probability):
    successes = share * trials
    expected = stats.beta.cdf(probability, successes, trials - successes + 1)
    assert upper_tail(successes, trials, probability) == pytest.approx(expected, abs=1e-10)


def test_tail_of_many_trials():
    for successes in (94_000, 95_000, 95_200, 96_000):
        expected = stats.binom.sf(successes - 1, 100_000, 0.95)
        assert upper_tail(successes, 100_000, 0.95) == pytest.approx(expected, rel=1e-6)
