"""How far a confidence is the probability of being right: reliability, calibration error, Brier."""

from typing import NamedTuple

import numpy as np

BINS = 15


class Reliability(NamedTuple):
    """The bins of a reliability diagram that hold an answer, from low confidence to high.

    Attributes:
      confidence: [K] mean confidence of each.
      right: [K] share of its answers that is right.
      size: [K] number of its answers.
    """

    confidence: np.ndarray
    right: np.ndarray
    size: np.ndarray


def reliability(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> Reliability:
    """Puts answers into bins by their confidence; bins without answers are left out.

    Args:
      confidence: [N] probabilities that the answers are right.
      right: [N] booleans.
      bins: number of bins of equal width over [0, 1]; a bin is without its upper end, except for
        the last.
    """
    confidence = np.asarray(confidence, np.float64)
    number = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], confidence, side="right")
    size = np.bincount(number, minlength=bins)
    sums = (np.bincount(number, weights=x, minlength=len(size)) for x in (confidence, right))
    mean, share = (each[size > 0] / size[size > 0] for each in sums)
    return Reliability(mean, share, size[size > 0])


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error, in percent: 0 where c % of the labels given with c % are right.

    Tokens are put into bins of equal width by their confidence; the error is the mean distance
    between a bin's mean confidence and its share of right labels, weighted by its tokens.

    Args:
      confidence: [N] probabilities of the labels given.
      right: [N] booleans.
      bins: number of bins over [0, 1].

    Reference:
      Guo et al., ICML 2017, "On Calibration of Modern Neural Networks", Eq. 3.
    """
    found = reliability(confidence, right, bins)
    distance = np.abs(found.confidence - found.right)
    return 100.0 * float(distance @ found.size / len(confidence))


def brier_score(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean of (confidence - right)^2, in [0, 1]; 0 is best.

    It falls with better calibration and with better ranking. A constant confidence
    equal to r, the share of right answers, gives r (1 - r).

    Args:
      confidence: [N] probabilities that the answers are right.
      right: [N] booleans.

    Reference:
      Brier, 1950, "Verification of forecasts expressed in terms of probability".
    """
    distance = np.asarray(confidence, np.float64) - np.asarray(right, bool)
    return float(np.mean(distance**2))
