"""How much less dependent answers tell than as many independent ones.

Entities of a sentence are right or wrong together more often than by chance. The variance of their
precision is then larger than the binomial one. The ratio of both is the design effect (Kish, 1965,
"Survey Sampling"): n answers tell as much as n / effect independent ones.
"""

import numpy as np


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
