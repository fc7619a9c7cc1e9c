"""From which confidence answers can be accepted so that a target precision is reached.

Learn then Test (Angelopoulos et al., 2021) with fixed-sequence testing. Thresholds are tried from
the strictest down. At each, "the precision of what is accepted is below the target" is tested by
the exact binomial tail of the accepted answers of a calibration set; the last threshold before
the first test that does not reject is taken. Among answers that are exchangeable with those of
the calibration set, the precision then is below the target with a probability of at most ``error``:
that would need a wrong rejection at the first threshold at which the target is missed, and one
test at the level ``error`` does that so often.

A test of too few answers cannot reject, and would end the sequence. So it begins where the test is
most likely to reject if calibrated confidences are what they say: where the mean confidence of what
is accepted is most standard errors above the target. That looks at confidences, and at what is
right only through the correlation of all answers (below); it costs nothing as long as lower
confidence means lower precision. The promise does not depend on the calibration; how much is
accepted does. The grid of thresholds does not depend on the data.

Answers of one sentence are not independent: they are right or wrong together. So a test counts n
answers, k of them right, as n / d and k / d, with the design effect d: the larger one of what is
seen among them, and of what the correlation of all answers implies for so many per sentence.

What is promised is the precision over all text of the kind. That of a few further answers has a
spread of its own.
"""

import functools
import math
from collections.abc import Callable
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
) -> Acceptance:
    """Finds the lowest confidence from which answers reach a precision.

    Args:
      confidence: [N] in [0, 1], calibrated, of answers that neither the model nor its calibration
        was fitted to; ``right``: [N] booleans.
      group: [N] numbers of sentences, or of documents: answers of different ones are
        independent; None: all answers are.
      target, error: see ``Acceptance``.
    """
    confidence, right = np.asarray(confidence, np.float64), np.asarray(right, bool)
    order = np.argsort(-confidence, kind="stable")
    confidence, right = confidence[order], right[order]
    group = np.arange(len(right)) if group is None else np.asarray(group)[order]
    group = np.unique(group, return_inverse=True)[1]
    correlation = intraclass_correlation(right, group)
    taken = np.searchsorted(-confidence, -THRESHOLDS, side="right")  # at each threshold
    hits, sums = (np.append(0.0, np.cumsum(values)) for values in (right, confidence))
    worth = taken / [implied_effect(group[:count], correlation) for count in taken]
    means = sums[taken] / np.maximum(taken, 1)

    @functools.cache
    def effect_of(count: int) -> float:
        return effect(right[:count], group[:count], correlation)

    def rejects(number: int, target: float) -> bool:
        count = int(taken[number])
        return upper_tail(hits[count], count, target, effect_of(count)) <= error

    def first(target: float) -> int:
        return int(np.argmax((means - target) * np.sqrt(worth)))

    chosen = first(target)
    if not rejects(chosen, target):
        best = highest_below(target, lambda other: rejects(first(other), other))
        effect_there = effect_of(int(taken[chosen]))
        return Acceptance(target, error, NEVER, False, best, 0.0, None, len(right), effect_there)
    while chosen + 1 < len(THRESHOLDS) and rejects(chosen + 1, target):
        chosen += 1
    count = int(taken[chosen])
    threshold, precision = float(THRESHOLDS[chosen]), float(hits[count] / count)
    share, answers = count / len(right), len(right)
    return Acceptance(
        target, error, threshold, True, target, share, precision, answers, effect_of(count)
    )


def highest_below(target: float, is_promised: Callable[[float], bool]) -> float:
    """The highest of 0.01, 0.02, ... below a target that can be promised; 0: none can."""
    lower = (percent / 100 for percent in range(math.ceil(100 * target) - 1, 0, -1))
    return next((other for other in lower if is_promised(other)), 0.0)


def effect(right: np.ndarray, group: np.ndarray, correlation: float) -> float:
    """The larger design effect: the one that is seen, or the one that a correlation implies."""
    return max(implied_effect(group, correlation), design_effect(right, group))


def implied_effect(group: np.ndarray, correlation: float) -> float:
    """The design effect of answers of these groups that a correlation implies."""
    return 1.0 + correlation * (mean_group_size(group) - 1.0)


def design_effect(right: np.ndarray, group: np.ndarray) -> float:
    """The design effect of the share of right answers; 1 where it cannot be told.

    It is the variance between groups, of their sums of (right - share), over the binomial one.
    Groups are numbered from 0; answers of different ones are independent.
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


def upper_tail(successes: float, trials: float, probability: float, effect: float = 1.0) -> float:
    """P(X >= successes) for X ~ Binomial(trials, probability).

    ``successes``, 0 to ``trials``, and ``trials``, n >= 0, are worth ``effect`` times fewer
    independent ones. ``probability`` is in [0, 1].
    """
    from scipy.special import betainc  # takes a while, and few commands need it

    successes, trials = successes / effect, trials / effect
    return 1.0 if successes <= 0 else float(betainc(successes, trials - successes + 1, probability))
