"""From which confidence answers can be accepted so that a target precision is reached.

Learn then Test (Angelopoulos et al., 2021) with fixed-sequence testing. Thresholds are tried from
the strictest down. At each, "the precision of what is accepted is below the target" is tested by
the exact binomial tail of the accepted answers of a calibration set; the last threshold before
the first test that does not reject is taken. Among answers that are exchangeable with those of
the calibration set, the precision then is below the target with a probability of at most ``error``:
that would need a wrong rejection at the first threshold at which the target is missed, and one
test at the level ``error`` does that so often.

A test of too few answers cannot reject, and would end the sequence. So it begins at the first
threshold that accepts twice as many answers as a test without any error needs. With calibrated
confidences it begins where the test is most likely to reject if they are what they say: where the
mean confidence of what is accepted is most standard errors above the target. Both look at
confidences, not at what is right, and cost nothing as long as lower confidence means lower
precision. The grid of thresholds does not depend on the data.
"""

import math
from typing import NamedTuple

import numpy as np

from uanet_tf.calibration.binomial import lower_bound, upper_tail

ERROR = 0.1
NEVER = 2.0  # above every confidence
_LOGITS = np.linspace(math.log(0.9995 / 0.0005), math.log(0.05 / 0.95), 120)
# From the strictest to the one that accepts everything.
THRESHOLDS = np.append(1.0 / (1.0 + np.exp(-_LOGITS)), 0.0)


class Acceptance(NamedTuple):
    """The confidence from which answers are accepted, and the precision found there.

    Attributes:
      target: precision asked for, in (0, 1).
      error: probability with which it may be missed.
      threshold: answers of at least this confidence are accepted; ``NEVER``: none.
      reached: whether there is such a threshold.
      best: where the target cannot be reached, one that can, with the same ``error``; else
        ``target``. 0 where nothing is known.
      accepted: share of the calibration answers that is accepted.
      precision: share of these that is right; None where nothing is accepted.
      answers: number of calibration answers.
    """

    target: float
    error: float
    threshold: float
    reached: bool
    best: float
    accepted: float
    precision: float | None
    answers: int


def accept_from(
    confidence: np.ndarray,
    right: np.ndarray,
    *,
    target: float,
    error: float = ERROR,
    calibrated: bool = False,
) -> Acceptance:
    """Finds the lowest confidence from which answers reach a precision.

    Args:
      confidence: [N] in [0, 1], of answers that neither the model nor its calibration was
        fitted to.
      right: [N] booleans.
      target: precision to be reached, in (0, 1).
      error: probability with which it may be missed, in (0, 1).
      calibrated: whether confidences are calibrated. The promise does not depend on it; how much
        is accepted does.
    """
    confidence, right = np.asarray(confidence, np.float64), np.asarray(right, bool)
    order = np.argsort(-confidence, kind="stable")
    hits = np.append(0, np.cumsum(right[order]))
    taken = np.searchsorted(-confidence[order], -THRESHOLDS, side="right")  # at each threshold
    if not len(right):
        start = len(THRESHOLDS) - 1
    elif calibrated:
        sums = np.append(0.0, np.cumsum(confidence[order]))[taken]
        start = int(np.argmax((sums - target * taken) / np.sqrt(np.maximum(taken, 1))))
    else:
        fewest = min(2 * math.ceil(math.log(error) / math.log(target)), len(right))
        start = int(np.argmax(taken >= max(fewest, 1)))
    chosen = None
    for number in range(start, len(THRESHOLDS)):
        count = int(taken[number])
        if upper_tail(int(hits[count]), count, target) > error:
            break
        chosen = number
    if chosen is None:
        count = int(taken[start])
        # One threshold, fixed beforehand: its bound holds for all targets at once.
        best = lower_bound(int(hits[count]), count, error)
        return Acceptance(target, error, NEVER, False, best, 0.0, None, len(right))
    count = int(taken[chosen])
    precision = float(hits[count] / count)
    threshold = float(THRESHOLDS[chosen])
    share = count / len(right)
    return Acceptance(target, error, threshold, True, target, share, precision, len(right))
