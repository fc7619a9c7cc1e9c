"""Expected calibration error."""

import numpy as np

BINS = 15


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
    confidence = np.asarray(confidence, np.float64)
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    distance = np.bincount(number, weights=confidence - right, minlength=bins)  # of sums, per bin
    return 100.0 * float(np.abs(distance).sum() / len(confidence))
