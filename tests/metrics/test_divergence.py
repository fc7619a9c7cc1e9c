import numpy as np
import pytest

from uanet_tf.metrics.divergence import divergence


def test_divergence_against_loops():
    random = np.random.default_rng(1)
    p, q = (random.dirichlet([1, 1, 1], size=5) for _ in range(2))
    expected = sum(a * np.log(a / b) for a, b in zip(p.ravel(), q.ravel(), strict=True)) / 5
    assert divergence(p, q) == pytest.approx(expected)
    assert divergence(p, p) == 0.0
