"""From which confidence answers can be accepted so that a target precision is reached.

Learn then Test (Angelopoulos et al., 2021) with fixed-sequence testing. Thresholds are tried from
the strictest down. At each, "the precision of what is accepted is below the target" is tested by
the exact binomial tail of the accepted answers of a calibration set; the last threshold before
the first test that does not reject is taken. Among answers that are exchangeable with those of
the calibration set, the precision then is below the target with a probability of at most ``error``:
that would need a wrong rejection at the first threshold at which the target is missed, and one
test at the level ``error`` does that so often.

A test of too few answers cannot reject, and would end the sequence. So it begins at the first
threshold that accepts answers worth twice as many as a test without any error needs. With
calibrated confidences it begins where the test is most likely to reject if they are what they say:
where the mean confidence of what is accepted is most standard errors above the target. Both look
at confidences, and at what is right only through the correlation of all answers (below); they cost
nothing as long as lower confidence means lower precision. The grid of thresholds does not depend
on the data.

Answers of one sentence are not independent: they are right or wrong together. So a test counts n
answers, k of them right, as n / d and k / d, with the design effect d: the larger one of what is
seen among them, and of what the correlation of all answers implies for so many per sentence.

What is promised is the precision over all text of the kind. That of a few further answers has a
spread of its own.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

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
      best: where the target cannot be reached, the highest of 0.01, 0.02, ... that these answers
        would promise, found by the same tests; else ``target``. 0: there is none. It is chosen
        after looking: whoever then asks for it has tried more than one.
      accepted: share of the calibration answers that is accepted.
      precision: share of these that is right; None where nothing is accepted.
      answers: number of calibration answers.
      design_effect: the accepted ones tell as much as ``accepted * answers / design_effect``
        independent ones; of the first test where nothing is accepted.
    """

    target: float
    error: float
    threshold: float
    reached: bool
    best: float
    accepted: float
    precision: float | None
    answers: int
    design_effect: float = 1.0


def accept_from(
    confidence: np.ndarray,
    right: np.ndarray,
    group: np.ndarray | None = None,
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
      group: [N] numbers of sentences, or of documents: answers of different ones are
        independent; None: all answers are.
      target: precision to be reached, in (0, 1).
      error: probability with which it may be missed, in (0, 1).
      calibrated: whether confidences are calibrated. The promise does not depend on it; how much
        is accepted does.
    """
    confidence, right = np.asarray(confidence, np.float64), np.asarray(right, bool)
    order = np.argsort(-confidence, kind="stable")
    confidence, right = confidence[order], right[order]
    taken = np.searchsorted(-confidence, -THRESHOLDS, side="right")  # at each threshold
    effects = _Effects(right, None if group is None else np.asarray(group)[order])
    hits = np.append(0, np.cumsum(right))
    worth = taken / np.array([effects.implied(int(count)) for count in taken])
    effect_of = functools.cache(effects.of)

    def rejects(number: int, target: float) -> bool:
        count = int(taken[number])
        effect = effect_of(count)
        return upper_tail(hits[count] / effect, count / effect, target) <= error

    def first(target: float) -> int:
        return _first(confidence, taken, worth, target, error, calibrated)

    start = first(target)
    if not rejects(start, target):
        lower = (percent / 100 for percent in range(math.ceil(100 * target) - 1, 0, -1))
        best = next((other for other in lower if rejects(first(other), other)), 0.0)
        effect = effect_of(int(taken[start]))
        return Acceptance(target, error, NEVER, False, best, 0.0, None, len(right), effect)
    chosen = start
    while chosen + 1 < len(THRESHOLDS) and rejects(chosen + 1, target):
        chosen += 1
    count = int(taken[chosen])
    precision = float(hits[count] / count)
    threshold, share = float(THRESHOLDS[chosen]), count / len(right)
    effect = effect_of(count)
    return Acceptance(target, error, threshold, True, target, share, precision, len(right), effect)


def _first(
    confidence: np.ndarray,
    taken: np.ndarray,
    worth: np.ndarray,
    target: float,
    error: float,
    calibrated: bool,
) -> int:
    """The position of the first threshold to be tested.

    Args:
      confidence: [N], falling.
      taken: how many answers each threshold accepts.
      worth: as how many independent ones they count.
      target, error, calibrated: see ``accept_from``.
    """
    if not len(confidence):
        return len(THRESHOLDS) - 1
    if calibrated:
        means = np.append(0.0, np.cumsum(confidence))[taken] / np.maximum(taken, 1)
        return int(np.argmax((means - target) * np.sqrt(worth)))
    fewest = min(2 * math.ceil(math.log(error) / math.log(target)), worth[-1])
    return int(np.argmax(worth >= max(fewest, 1)))


class _Effects:
    """Design effects of the first answers of a list.

    Args:
      right: [N] booleans.
      group: [N]; None: answers are independent.
    """

    def __init__(self, right: np.ndarray, group: np.ndarray | None):
        self._right = right
        self._group = None if group is None else np.unique(group, return_inverse=True)[1]
        if self._group is not None:
            self._correlation = intraclass_correlation(right, self._group)

    def of(self, count: int) -> float:
        """The effect of the first ``count``, at least 1."""
        if self._group is None:
            return 1.0
        return max(self.implied(count), design_effect(self._right[:count], self._group[:count]))

    def implied(self, count: int) -> float:
        """That of the first ``count`` which the correlation of all answers implies."""
        if self._group is None:
            return 1.0
        return 1.0 + self._correlation * (mean_group_size(self._group[:count]) - 1.0)


def design_effect(right: np.ndarray, group: np.ndarray) -> float:
    """The design effect of the share of right answers; 1 where it cannot be told.

    It is the variance between groups, of their sums of (right - share), over the binomial one.

    Args:
      right: [N] booleans.
      group: [N], numbers from 0; answers of different groups are independent.
    """
    if not len(right):
        return 1.0
    share = float(np.mean(right))
    groups = len(np.unique(group))
    if groups < 2 or share in (0.0, 1.0):
        return 1.0
    sums = np.bincount(group, np.asarray(right, np.float64) - share)
    binomial = len(right) * share * (1.0 - share)
    return float((sums**2).sum() / binomial * groups / (groups - 1))


def mean_group_size(group: np.ndarray) -> float:
    """Answers in the group of an answer, itself included, on average; 1 of no answers."""
    counts = np.bincount(group)
    return float((counts**2).sum() / counts.sum()) if len(group) else 1.0


def intraclass_correlation(right: np.ndarray, group: np.ndarray) -> float:
    """The correlation of two answers of a group that the design effect implies, in [0, 1].

    A design effect is 1 + correlation x (mean size - 1). So the effect of some of the answers, of
    which groups hold fewer, follows from the correlation, even where all of them are right.
    """
    others = mean_group_size(group) - 1.0
    if others <= 0.0:
        return 0.0
    return float(np.clip((design_effect(right, group) - 1.0) / others, 0.0, 1.0))


def upper_tail(successes: float, trials: float, probability: float) -> float:
    """P(X >= successes) for X ~ Binomial(trials, probability).

    Args:
      successes: 0 to ``trials``.
      trials: n >= 0.
      probability: in [0, 1].
    """
    from scipy.special import betainc  # takes a while, and few commands need it

    return 1.0 if successes <= 0 else float(betainc(successes, trials - successes + 1, probability))
