"""A reliability diagram's points: how often answers of some confidence are right."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_Z = 1.959964  # of a two-sided 95 % interval


class ReliabilityPoint(NamedTuple):
    """Answers of about the same confidence. All but ``size`` in percent.

    Attributes:
      size: number of answers.
      confidence: their mean confidence.
      right: share of them that is right.
      low: lower end of the 95 % interval of ``right``.
      high: upper end.
    """

    size: int
    confidence: float
    right: float
    low: float
    high: float


def reliability(
    confidence: np.ndarray, right: np.ndarray, edges: Sequence[float]
) -> list[ReliabilityPoint]:
    """Points of a reliability diagram with Wilson's intervals; groups without answers are left out.

    Args:
      confidence: [N] probabilities of the answers.
      right: [N] booleans.
      edges: rising; between each two a group, without the upper one. Confidence below the first
        joins the first group, from the last on the last.

    Reference:
      Wilson, JASA 1927, "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    confidence, right = np.asarray(confidence, np.float64), np.asarray(right, bool)
    group = np.searchsorted(np.asarray(edges[1:-1]), confidence, side="right")
    points = []
    for number in np.unique(group):
        chosen = group == number
        n, share = int(chosen.sum()), float(right[chosen].mean())
        middle = share + _Z**2 / (2 * n)
        half = _Z * np.sqrt(share * (1 - share) / n + (_Z / (2 * n)) ** 2)
        low, high = ((middle + sign * half) / (1 + _Z**2 / n) for sign in (-1, 1))
        mean = float(confidence[chosen].mean())
        points.append(ReliabilityPoint(n, *(100 * float(v) for v in (mean, share, low, high))))
    return points
