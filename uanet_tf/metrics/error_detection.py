"""How well a score ranks wrong answers above right ones."""

from typing import NamedTuple

import numpy as np

from uanet_tf.metrics.reliability import brier_score, calibration_error
from uanet_tf.metrics.run_metrics import as_fraction


def auroc(score: np.ndarray, wrong: np.ndarray) -> float | None:
    """Area under the ROC curve: a wrong answer scores higher than a right one, in percent.

    It is the share of all pairs of one wrong and one right answer in which the wrong one has the
    higher score; equal scores count half. 50 is a coin, 100 a perfect ranking; None if all answers
    are right or all are wrong. A score, [N], is high where an answer is suspected to be wrong;
    ``wrong``: [N] booleans.
    """
    from sklearn.metrics import roc_auc_score  # takes a while, and few commands need it

    wrong = np.asarray(wrong, bool)
    if wrong.all() or not wrong.any():
        return None
    return 100.0 * float(roc_auc_score(wrong, np.asarray(score, np.float64)))


def average_precision(score: np.ndarray, wrong: np.ndarray) -> float | None:
    """Area under the precision-recall curve of finding wrong answers, in percent.

    The curve is taken in steps, without interpolation: sum over distinct scores of the precision
    of all answers that score at least so high, weighted by the share of wrong answers that are
    first reached there. A random score gives the share of wrong answers; None if none is wrong.
    """
    from sklearn.metrics import average_precision_score

    wrong = np.asarray(wrong, bool)
    if not wrong.any():
        return None
    return 100.0 * float(average_precision_score(wrong, np.asarray(score, np.float64)))


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
    """Takes N >= 1 answers from the most confident down.

    ``confidence`` [N] is high where an answer is trusted; ``wrong``: [N] booleans. Among equal
    confidences the risk is its mean over all orders, so that the curve does not depend on how the
    answers are stored.

    Reference: Geifman and El-Yaniv, NeurIPS 2017, "Selective Classification for Deep Neural
    Networks".
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

    Reference: Geifman, Uziel and El-Yaniv, ICLR 2019, "Bias-Reduced Uncertainty Estimation for Deep
    Neural Classifiers", Eq. 2.
    """
    best = risk_coverage(~np.asarray(wrong, bool), wrong)
    return risk_coverage(confidence, wrong).area - best.area


class Trust(NamedTuple):
    """Scores of a group of ``size`` answers: tokens, or entities.

    Fractions, from 0 to 1, but for ``size``; None where there is no wrong answer (or no right one).

    Attributes:
      wrong: share of the answers that is wrong.
      auroc: of finding the wrong ones by low confidence; 0.5 is a coin.
      auroc_uncertainty: of finding them by high uncertainty.
      aupr: area under the precision-recall curve of finding them by low confidence; a coin
        gives ``wrong``.
      aurc: area under the risk-coverage curve; lower is better.
      e_aurc: the part of it that a perfect ranking would not have.
      brier, ece: squared error and expected calibration error of the confidence.
    """

    size: int
    wrong: float
    mean_confidence: float
    auroc: float | None
    auroc_uncertainty: float | None
    aupr: float | None
    aurc: float
    e_aurc: float
    brier: float
    ece: float


def trust(confidence: np.ndarray, uncertainty: np.ndarray, right: np.ndarray) -> Trust:
    """Scores a group of N >= 1 answers; see ``AnswerGroup``."""
    confidence, right = np.asarray(confidence, np.float64), np.asarray(right, bool)
    wrong = ~right
    return Trust(
        size=len(right),
        wrong=float(wrong.mean()),
        mean_confidence=float(confidence.mean()),
        auroc=as_fraction(auroc(-confidence, wrong)),
        auroc_uncertainty=as_fraction(auroc(uncertainty, wrong)),
        aupr=as_fraction(average_precision(-confidence, wrong)),
        aurc=as_fraction(risk_coverage(confidence, wrong).area),
        e_aurc=as_fraction(excess_area(confidence, wrong)),
        brier=brier_score(confidence, right),
        ece=as_fraction(calibration_error(confidence, right)),
    )
