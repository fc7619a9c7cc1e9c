from math import comb

import pytest

from uanet_tf.monitoring.fisher_exact import fisher_exact


def by_hand(a, n, b, m):
    """Plain sums of binomial coefficients."""
    total = a + b
    chances = {
        k: comb(n, k) * comb(m, total - k) for k in range(max(0, total - m), min(n, total) + 1)
    }
    return sum(c for c in chances.values() if c <= chances[a]) / sum(chances.values())


@pytest.mark.parametrize(
    "table", [(3, 10, 9, 12), (0, 5, 0, 7), (5, 5, 7, 7), (0, 40, 12, 30), (8, 10, 1, 3)]
)
def test_equals_the_sum_over_all_tables(table):
    assert fisher_exact(*table) == pytest.approx(by_hand(*table), rel=1e-9)


def test_of_a_large_stream():
    assert fisher_exact(100, 1000, 1_000_000, 10_000_000) == pytest.approx(1.0, abs=0.05)
    assert fisher_exact(100, 1000, 2_000_000, 10_000_000) < 1e-15
