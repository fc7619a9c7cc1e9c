"""What a target precision promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from uanet_tf.metrics.target_precision import (
    NEVER,
    accept_from,
    design_effect,
    intraclass_correlation,
    mean_group_size,
    upper_tail,
)

SPLITS = 400


class Population:
    """Answers whose confidence is the probability that they are right, or is off by a power."""

    def __init__(self, alpha, beta, power=1.0):
        rng = np.random.default_rng(7)
        probability = np.sort(rng.beta(alpha, beta, 60_000))[::-1]
        self.confidence = probability**power  # falling
        self.right = rng.random(60_000) < probability
        self.precisions = np.cumsum(self.right) / np.arange(1, 60_001)

    def precision(self, threshold):
        return self.precisions[self._accepted(threshold) - 1]

    def kept(self, threshold):
        return self._accepted(threshold) / 60_000

    def _accepted(self, threshold):
        return np.searchsorted(-self.confidence, -threshold, side="right")

    def draw(self, rng, size):
        chosen = rng.integers(0, len(self.right), size)
        return self.confidence[chosen], self.right[chosen]


# (population, target, share of the answers that it has to keep at least on average)
CASES = {
    "well calibrated": (Population(3, 0.5), 0.90, 0.75),
    "strict": (Population(3, 0.5), 0.95, 0.45),
    "overconfident": (Population(3, 0.5, power=0.3), 0.95, 0.3),
    "underconfident": (Population(3, 0.5, power=3.0), 0.95, 0.45),
}


@pytest.mark.parametrize("case", CASES)
def test_target_is_reached_in_nine_of_ten_splits(case):
    """400 calibration sets of 600 answers from a population whose precision is known."""
    population, target, least = CASES[case]
    rng = np.random.default_rng(3)
    found = [accept_from(*population.draw(rng, 600), target=target) for _ in range(SPLITS)]
    reached = [answer for answer in found if answer.reached]
    missed = sum(population.precision(answer.threshold) < target for answer in reached)
    assert missed <= 0.1 * SPLITS
    assert np.mean([population.kept(answer.threshold) for answer in found]) >= least
    # A threshold with exactly the target's precision on the calibration set misses half the time.
    naive = [_naive(*population.draw(rng, 600), target) for _ in range(SPLITS)]
    assert sum(population.precision(threshold) < target for threshold in naive) > 0.3 * SPLITS


def test_answers_of_a_sentence_are_right_or_wrong_together():
    """Sentences of six answers, most of which have one outcome: 3,000 are the known truth."""
    rng = np.random.default_rng(6)
    chance = np.repeat(rng.beta(6, 1, (3_000, 1)), 6, axis=1)
    right = rng.random((3_000, 6)) < chance
    whole = rng.random(3_000) < 0.7
    right[whole] = right[whole, :1]
    order = np.argsort(-chance.ravel())
    falling = -chance.ravel()[order]
    precision = np.cumsum(right.ravel()[order]) / np.arange(1, order.size + 1)
    missed, reached = {"sentences": 0, "answers": 0}, 0
    for _ in range(150):
        drawn = rng.integers(0, 3_000, 100)
        answers = chance[drawn].ravel(), right[drawn].ravel()
        groups = {"sentences": np.repeat(np.arange(100), 6), "answers": None}
        for name, group in groups.items():
            found = accept_from(*answers, group, target=0.9)
            count = np.searchsorted(falling, -found.threshold, side="right")
            missed[name] += bool(count) and precision[count - 1] < 0.9
            reached += name == "sentences" and found.reached
    assert missed["sentences"] <= 0.1 * 150
    assert missed["answers"] > 0.15 * 150
    assert reached > 0.3 * 150


def _naive(confidence, right, target):
    order = np.argsort(-confidence)
    precision = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    return confidence[order][np.flatnonzero(precision >= target).max(initial=0)]


def test_a_target_out_of_reach_is_refused_and_the_best_is_named():
    population = Population(40, 10)  # confidence says little: 0.8 everywhere
    rng = np.random.default_rng(5)
    found = [accept_from(*population.draw(rng, 600), target=0.97) for _ in range(200)]
    refused = [answer for answer in found if not answer.reached]
    assert len(refused) >= 180
    for answer in refused:
        assert (answer.threshold, answer.accepted, answer.precision) == (NEVER, 0.0, None)
    assert 0.7 < np.mean([answer.best for answer in refused]) < 0.97
    assert all(answer.best < 0.97 for answer in refused)


def test_what_is_named_can_be_had_and_nothing_higher():
    """Whatever was asked for."""
    confidence, right = Population(40, 10).draw(np.random.default_rng(7), 600)
    group = np.arange(600) // 3
    promised = [
        target / 100
        for target in range(1, 100)
        if accept_from(confidence, right, group, target=target / 100).reached
    ]
    assert 0.5 < promised[-1] < 0.95
    for target in (promised[-1] + 0.01, 0.95, 0.99, 0.999):
        found = accept_from(confidence, right, group, target=target)
        assert not found.reached
        assert found.best == promised[-1]


def test_by_hand():
    confidence = np.repeat([0.9, 0.6, 0.3], 100)
    right = np.concatenate([np.ones(100), np.repeat([1, 0], [90, 10]), np.zeros(100)]).astype(bool)
    found = accept_from(confidence, right, target=0.9)
    assert found.reached
    assert found.best == 0.9
    # 190 of 200 pass at 0.9 (tail 0.01), 190 of 300 do not.
    assert stats.binom.sf(189, 200, 0.9) < 0.1 < stats.binom.sf(189, 300, 0.9)
    assert 0.3 < found.threshold <= 0.6
    assert found.accepted == pytest.approx(2 / 3)
    assert found.precision == pytest.approx(0.95)
    assert found.answers == 300
    everything = accept_from(confidence, right, target=0.5)
    assert (everything.threshold, everything.accepted) == (0.0, 1.0)


def test_few_answers_can_show_little():
    ones = np.ones(10)
    found = accept_from(ones, ones.astype(bool), target=0.95)
    assert not found.reached
    assert found.best == 0.79  # 0.79^10 < 0.1 < 0.8^10
    assert accept_from(ones, ones.astype(bool), target=0.7).threshold == 0.0
    none = accept_from(np.zeros(0), np.zeros(0, bool), target=0.9)
    assert (none.reached, none.best, none.answers) == (False, 0.0, 0)


def drawn(sizes, together, seed=1):
    """Answers of which a share copies one outcome of their group: that is their correlation."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    common = (rng.random(len(sizes)) < 0.7)[group]
    own = rng.random(len(group)) < 0.7
    return np.where(rng.random(len(group)) < np.sqrt(together), common, own), group


@pytest.mark.parametrize("together", [0.0, 0.3, 1.0])
def test_correlation_is_found(together):
    right, group = drawn(np.random.default_rng(2).integers(1, 8, 20_000), together)
    assert intraclass_correlation(right, group) == pytest.approx(together, abs=0.02)


def test_effect_is_the_variance_of_the_precision_over_the_binomial_one():
    sizes = np.full(200, 4)
    found, shares = [], []
    for seed in range(400):
        right, group = drawn(sizes, 0.5, seed)
        found.append(design_effect(right, group))
        shares.append(right.mean())
    assert np.mean(found) == pytest.approx(np.var(shares) * 800 / (0.7 * 0.3), rel=0.15)
    assert np.mean(found) == pytest.approx(1 + 0.5 * 3, rel=0.05)


def test_design_effect_by_hand():
    right, group = np.array([1, 1, 0, 0], bool), np.array([0, 0, 1, 1])
    assert mean_group_size(group) == 2.0
    # Sums of 1 and -1; 4 x 1/4; two groups.
    assert design_effect(right, group) == pytest.approx((1 + 1) / 1 * 2)
    assert intraclass_correlation(right, group) == 1.0


EFFECTS = [([], [], 1), ([1, 1], [0, 1], 1), ([1, 0, 1], [0, 0, 0], 3)]


@pytest.mark.parametrize(("right", "group", "size"), EFFECTS)
def test_where_nothing_can_be_told(right, group, size):
    right, group = np.array(right, bool), np.array(group, int)
    assert design_effect(right, group) == 1.0
    assert intraclass_correlation(right, group) == 0.0
    assert mean_group_size(group) == size


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
