"""How far a confidence is the probability of being right: reliability, calibration error, Brier."""

from typing import NamedTuple

import numpy as np

BINS = 15


class Reliability(NamedTuple):
    """The K bins of a reliability diagram that hold an answer, from low confidence to high.

    [K] each: mean confidence, share of the answers that is right, number of answers.
    """

    confidence: np.ndarray
    right: np.ndarray
    size: np.ndarray


def reliability(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> Reliability:
    """Puts answers into bins by their confidence; bins without answers are left out.

    Args:
      confidence: [N] probabilities that the answers are right.
      right: [N] booleans.
      bins: how many, of equal width over [0, 1]; all but the last are without their upper end.
    """
    confidence = np.asarray(confidence, np.float64)
    number = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], confidence, side="right")
    size = np.bincount(number, minlength=bins)
    sums = (np.bincount(number, weights=x, minlength=len(size)) for x in (confidence, right))
    mean, share = (each[size > 0] / size[size > 0] for each in sums)
    return Reliability(mean, share, size[size > 0])


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error, in percent: 0 where c % of the labels given with c % are right.

    The error is the mean distance between the mean confidence of a bin and its share of right
    labels, weighted by its tokens. For the arguments see ``reliability``.

    Reference: Guo et al., ICML 2017, "On Calibration of Modern Neural Networks", Eq. 3.
    """
    found = reliability(confidence, right, bins)
    distance = np.abs(found.confidence - found.right)
    return 100.0 * float(distance @ found.size / len(confidence))


def brier_score(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean of (confidence - right)^2, in [0, 1]; 0 is best. For the arguments see ``reliability``.

    It falls with better calibration and with better ranking. A constant confidence equal to r, the
    share of right answers, gives r (1 - r).

    Reference: Brier, 1950, "Verification of forecasts expressed in terms of probability".
    """
    distance = np.asarray(confidence, np.float64) - np.asarray(right, bool)
    return float(np.mean(distance**2))
