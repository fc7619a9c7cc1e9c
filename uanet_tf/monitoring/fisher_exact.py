"""Whether two shares are the same: Fisher's exact test."""

import numpy as np

_SAME = 1e-7  # relative difference below which two probabilities are equal


def fisher_exact(count: int, size: int, other_count: int, other_size: int) -> float:
    """Two-sided p-value of "count of size" against "other_count of other_size".

    Under exchangeability the first count, given the sum of both, is hypergeometric; the p-value is
    the probability of all first counts that are at most as probable as the one seen. It needs
    memory for ``size`` numbers at most, however large the other sample is.

    Reference:
      Fisher, 1935, "The Logic of Inductive Inference".
    """
    total = count + other_count
    low, high = max(0, total - other_size), min(size, total)
    values = np.arange(low, high, dtype=np.float64)
    # log P(k + 1) - log P(k).
    steps = np.log((size - values) * (total - values)) - np.log(
        (values + 1.0) * (other_size - total + values + 1.0)
    )
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    probabilities = np.exp(logs - logs.max())
    seen = probabilities[count - low]
    extreme = probabilities[probabilities <= seen * (1.0 + _SAME)].sum()
    return min(1.0, float(extreme / probabilities.sum()))
