import numpy as np
import pytest

from uanet_tf.calibration.design_effect import (
    design_effect,
    intraclass_correlation,
    mean_group_size,
)


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


def test_by_hand():
    right, group = np.array([1, 1, 0, 0], bool), np.array([0, 0, 1, 1])
    assert mean_group_size(group) == 2.0
    # Sums of 1 and -1; 4 x 1/4; two groups.
    assert design_effect(right, group) == pytest.approx((1 + 1) / 1 * 2)
    assert intraclass_correlation(right, group) == 1.0


CASES = [([], [], 1), ([1, 1], [0, 1], 1), ([1, 0, 1], [0, 0, 0], 3)]


@pytest.mark.parametrize(("right", "group", "size"), CASES)
def test_where_nothing_can_be_told(right, group, size):
    right, group = np.array(right, bool), np.array(group, int)
    assert design_effect(right, group) == 1.0
    assert intraclass_correlation(right, group) == 0.0
    assert mean_group_size(group) == size
