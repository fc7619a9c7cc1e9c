import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from uanet_tf.calibration.binomial import lower_bound, upper_tail


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


@given(st.integers(1, 300), st.floats(0, 1), st.sampled_from([0.01, 0.1, 0.3]))
def test_bound_is_the_beta_quantile(trials, share, error):
    successes = round(share * trials)
    expected = stats.beta.ppf(error, successes, trials - successes + 1) if successes else 0.0
    assert lower_bound(successes, trials, error) == pytest.approx(expected, abs=1e-9)


def test_bound_without_errors_by_hand():
    assert lower_bound(20, 20, 0.1) == pytest.approx(0.1 ** (1 / 20))
    assert lower_bound(0, 0, 0.1) == 0.0


def test_bound_covers_the_share_as_often_as_promised():
    rng = np.random.default_rng(1)
    bounds = {k: lower_bound(k, 40, 0.1) for k in range(41)}
    missed = np.mean([bounds[k] > 0.9 for k in rng.binomial(40, 0.9, 4000)])
    assert 0.02 < missed <= 0.1
