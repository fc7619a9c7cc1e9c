"""How well a score ranks wrong answers above right ones."""

import numpy as np


def auroc(score: np.ndarray, wrong: np.ndarray) -> float | None:
    """Area under the ROC curve: a wrong answer scores higher than a right one, in percent.

    It is the share of all pairs of one wrong and one right answer in which the wrong one has the
    higher score; equal scores count half. 50 is a coin, 100 a perfect ranking.

    Args:
      score: [N] numbers, high where an answer is suspected to be wrong.
      wrong: [N] booleans.

    Returns:
      None if all answers are right or all are wrong.
    """
    score, wrong = np.asarray(score, np.float64), np.asarray(wrong, bool)
    positives = int(wrong.sum())
    negatives = len(wrong) - positives
    if not positives or not negatives:
        return None
    _, group, counts = np.unique(score, return_inverse=True, return_counts=True)
    last_rank = np.cumsum(counts)
    rank = (last_rank - (counts - 1) / 2.0)[group]  # [N], of equal scores the mean, from 1
    above = rank[wrong].sum() - positives * (positives + 1) / 2.0
    return 100.0 * float(above / (positives * negatives))


def average_precision(score: np.ndarray, wrong: np.ndarray) -> float | None:
    """Area under the precision-recall curve of finding wrong answers, in percent.

    The curve is taken in steps, without interpolation: sum over distinct scores of the precision
    of all answers that score at least so high, weighted by the share of wrong answers that are
    first reached there. A random score gives the share of wrong answers.

    Args: see ``auroc``.

    Returns:
      None if no answer is wrong.
    """
    score, wrong = np.asarray(score, np.float64), np.asarray(wrong, bool)
    if not wrong.any():
        return None
    values, group = np.unique(-score, return_inverse=True)
    found = np.bincount(group, weights=wrong, minlength=len(values))  # at each score, from above
    precision = np.cumsum(found) / np.cumsum(np.bincount(group, minlength=len(values)))
    return 100.0 * float((precision * found).sum() / wrong.sum())
