"""The share of wrong answers when only the most confident ones are taken."""

from typing import NamedTuple

import numpy as np


class RiskCoverage(NamedTuple):
    """A risk-coverage curve.

    Attributes:
      coverage: [N] share of the answers that are taken, 1/N to 1.
      risk: [N] share of those that are wrong, in [0, 1].
    """

    coverage: np.ndarray
    risk: np.ndarray

    @property
    def area(self) -> float:
        """AURC in percent: the mean risk over all coverages; lower is better."""
        return 100.0 * float(self.risk.mean())


def risk_coverage(confidence: np.ndarray, wrong: np.ndarray) -> RiskCoverage:
    """Takes answers from the most confident down.

    Among equal confidences the risk is its mean over all orders, so that
    the curve does not depend on how the answers are stored.

    Args:
      confidence: [N] numbers, high where an answer is trusted; N >= 1.
      wrong: [N] booleans.

    Reference:
      Geifman and El-Yaniv, NeurIPS 2017, "Selective Classification for Deep Neural Networks".
    """
    values, group, counts = np.unique(
        -np.asarray(confidence, np.float64), return_inverse=True, return_counts=True
    )
    errors = np.bincount(group, weights=np.asarray(wrong, bool), minlength=len(values))
    taken = np.arange(1, len(group) + 1)
    expected = np.cumsum(np.repeat(errors / counts, counts))
    return RiskCoverage(taken / len(group), expected / taken)


def excess_area(confidence: np.ndarray, wrong: np.ndarray) -> float:
    """E-AURC in percent: the area above that of a ranking that knows which answers are wrong.

    It removes the effect of the number of errors, which no ranking can change, so that systems of
    different accuracy can be compared.

    Reference:
      Geifman, Uziel and El-Yaniv, ICLR 2019, "Bias-Reduced Uncertainty Estimation for Deep
      Neural Classifiers", Eq. 2.
    """
    best = risk_coverage(~np.asarray(wrong, bool), wrong)
    return risk_coverage(confidence, wrong).area - best.area
