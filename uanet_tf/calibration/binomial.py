"""Exact tails of the binomial distribution.

Numbers of trials and successes may be fractions too: dependent trials tell as much as a smaller
number of independent ones. Then the tail is the beta distribution's, which it equals for whole
numbers (Korn and Graubard, 1998, "Confidence Intervals for Proportions with Small Expected Number
of Positive Counts Estimated from Survey Data").
"""

import math

_MOST_TERMS = 100_000  # of the continued fraction; it needs about the square root of the trials
_PRECISION = 1e-15
_TINY = 1e-300


def upper_tail(successes: float, trials: float, probability: float) -> float:
    """P(X >= successes) for X ~ Binomial(trials, probability).

    Args:
      successes: 0 to ``trials``.
      trials: n >= 0.
      probability: in [0, 1].
    """
    if successes <= 0:
        return 1.0
    if probability in (0.0, 1.0):
        return float(probability)
    return _beta_share(successes, trials - successes + 1.0, probability)


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function I_x(a, b), for x in (0, 1)."""
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta_share(b, a, 1.0 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log1p(-x)
    return min(1.0, math.exp(log_front) / (a * _continued_fraction(a, b, x)))


def _continued_fraction(a: float, b: float, x: float) -> float:
    """1 + d1 / (1 + d2 / (1 + ...)), by Lentz' method.

    Reference:
      DLMF, 8.17.22.
    """
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            factor = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            factor = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / ((1.0 + factor * d) or _TINY)
        c = (1.0 + factor / c) or _TINY
        value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value
