"""The squared error of a confidence."""

import numpy as np


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
