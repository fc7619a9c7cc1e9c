"""KL divergence of distributions."""

import numpy as np

_SMALLEST = 1e-8  # a probability below counts as this


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Mean KL(p || q) of [N, C] distributions, nats."""
    p, q = np.maximum(p, _SMALLEST), np.maximum(q, _SMALLEST)
    return float(np.mean(np.sum(p * (np.log(p) - np.log(q)), axis=-1)))
