"""Exact tails of the binomial distribution, and the bound of a share that follows from them."""

import numpy as np

_STEPS = 60  # of bisection: more than a float64 between 0 and 1 can tell apart


def upper_tail(successes: int, trials: int, probability: float) -> float:
    """P(X >= successes) for X ~ Binomial(trials, probability), by summing its terms.

    Args:
      successes: 0 to ``trials``.
      trials: n >= 0.
      probability: in [0, 1].
    """
    if successes <= 0:
        return 1.0
    if probability in (0.0, 1.0):
        return float(probability)
    number = np.arange(trials)
    # log of (n choose k) for k = 0 .. n
    ways = np.append(0.0, np.cumsum(np.log((trials - number) / (number + 1.0))))
    count = np.arange(successes, trials + 1)
    logs = ways[count] + count * np.log(probability) + (trials - count) * np.log1p(-probability)
    most = logs.max()
    return float(min(1.0, np.exp(most) * np.exp(logs - most).sum()))


def lower_bound(successes: int, trials: int, error: float) -> float:
    """A lower bound of a share, given that ``successes`` of ``trials`` were seen.

    The bound is above the true share with a probability of at most ``error``, whatever the share.

    Reference:
      Clopper and Pearson, 1934; one-sided.
    """
    low, high = 0.0, successes / trials if trials else 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if upper_tail(successes, trials, middle) <= error:
            low = middle
        else:
            high = middle
    return low
