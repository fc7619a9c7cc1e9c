"""Expected calibration error, and the reliability diagram whose bins it sums up."""

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
    """Puts answers into bins of equal width by their confidence.

    Args:
      confidence: [N] probabilities that the answers are right.
      right: [N] booleans.
      bins: number of bins over [0, 1]; empty ones are left out.
    """
    confidence = np.asarray(confidence, np.float64)
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    size = np.bincount(number, minlength=bins)
    sums = (np.bincount(number, weights=each, minlength=bins) for each in (confidence, right))
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
