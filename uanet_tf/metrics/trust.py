"""How far the confidence and the uncertainty of a group of answers can be trusted."""

from typing import NamedTuple

import numpy as np

from uanet_tf.metrics.brier import brier_score
from uanet_tf.metrics.calibration import calibration_error
from uanet_tf.metrics.error_detection import auroc, average_precision
from uanet_tf.metrics.risk_coverage import excess_area, risk_coverage


class Trust(NamedTuple):
    """Scores of a group of answers: tokens, or entities.

    All in percent, except ``brier``; None where there is no wrong answer (or no right one).

    Attributes:
      size: number of answers.
      wrong: share of them that is wrong.
      mean_confidence: their mean confidence.
      auroc: of finding the wrong ones by low confidence; 50 is a coin.
      auroc_uncertainty: of finding them by high uncertainty.
      aupr: area under the precision-recall curve of finding them by low confidence; a coin
        gives ``wrong``.
      aurc: area under the risk-coverage curve; lower is better.
      e_aurc: the part of it that a perfect ranking would not have.
      brier: squared error of the confidence, in [0, 1].
      ece: expected calibration error of the confidence.
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


def trust(confidence: np.ndarray, uncertainty: np.ndarray, right: np.ndarray) -> Trust | None:
    """Scores a group of answers; None for an empty one.

    Args:
      confidence: [N] probabilities that the answers are right.
      uncertainty: [N] nats.
      right: [N] booleans.
    """
    confidence, right = np.asarray(confidence, np.float64), np.asarray(right, bool)
    if not len(right):
        return None
    wrong = ~right
    return Trust(
        size=len(right),
        wrong=100.0 * float(wrong.mean()),
        mean_confidence=100.0 * float(confidence.mean()),
        auroc=auroc(-confidence, wrong),
        auroc_uncertainty=auroc(uncertainty, wrong),
        aupr=average_precision(-confidence, wrong),
        aurc=risk_coverage(confidence, wrong).area,
        e_aurc=excess_area(confidence, wrong),
        brier=brier_score(confidence, right),
        ece=calibration_error(confidence, right),
    )
