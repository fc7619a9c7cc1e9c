"""How far a score may be from that of all such sentences, and whether two differ: resampling."""

from collections.abc import Iterator

import numpy as np

from uanet_tf.metrics.scoring import f1_of_counts

_SAMPLES_AT_A_TIME = 100  # samples at a time: bounds memory


def f1_interval(counts: np.ndarray, *, samples: int = 1000, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of F1, percent: percentiles of samples drawn with replacement.

    Sentences are drawn, not items, since the items of one sentence are alike. An interval of few
    sentences is too narrow, as with any bootstrap. For ``counts`` see ``sentence_counts``. With
    items of which as many are predicted as are gold, such as tokens, F1 is accuracy.

    Raises:
      ValueError: no sentence has an item.

    Reference: Efron and Tibshirani, 1993, "An Introduction to the Bootstrap", section 13.3.
    """
    counts = counts[counts[:, 1:].any(axis=1)].astype(np.float64)  # the others change nothing
    size = len(counts)
    if not size:
        raise ValueError("`counts` have no items.")
    draws = _draws(size, samples, seed)
    scores = np.concatenate([f1_of_counts(drawn @ counts) for drawn in draws])
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


def f1_difference_error(
    left: np.ndarray, right: np.ndarray, *, samples: int = 1000, seed: int = 0
) -> float:
    """The standard error of the difference in F1 of two sets of labels, percent.

    Both are scored on the same sentences, drawn with replacement: see ``sentence_counts``.

    Reference: Efron and Tibshirani, 1993, "An Introduction to the Bootstrap", section 6.2.
    """
    used = left[:, 1:].any(axis=1) | right[:, 1:].any(axis=1)
    if not used.any():
        return 0.0
    left, right = (counts[used].astype(np.float64) for counts in (left, right))
    draws = _draws(len(left), samples, seed)
    differences = [f1_of_counts(drawn @ left) - f1_of_counts(drawn @ right) for drawn in draws]
    return float(np.std(np.concatenate(differences), ddof=1))


def _draws(size: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each of ``size`` sentences is drawn, [S, N] of some of the samples at a time."""
    random = np.random.default_rng(seed)
    for first in range(0, samples, _SAMPLES_AT_A_TIME):
        drawn = min(_SAMPLES_AT_A_TIME, samples - first)
        yield random.multinomial(size, np.full(size, 1 / size), drawn)


_ROUNDS_AT_A_TIME = 256  # rounds at a time: bounds memory


def approximate_randomization(
    left: np.ndarray, right: np.ndarray, *, rounds: int = 10_000, seed: int = 0
) -> float:
    """p, at least 1 / (rounds + 1): how often chance alone makes F1 differ as much as two taggers.

    If the taggers were alike, it would not matter which of them gave the answers of a sentence. So
    in each round the answers of every sentence are exchanged with probability 1/2, and F1 is
    computed again. The runs of several seeds are added up: a sentence is exchanged with the answers
    of all of them.

    Args:
      left: [N, 3], see ``sentence_counts``; with several seeds their sum.
      right: those of the other tagger, with as many seeds.

    Raises:
      ValueError: the taggers differ in sentences or in gold items.

    Reference: Noreen, 1989, "Computer-Intensive Methods for Testing Hypotheses"; Yeh, 2000, "More
    accurate tests for the statistical significance of result differences".
    """
    if left.shape != right.shape or (left[:, 2] != right[:, 2]).any():
        raise ValueError("`left` and `right` are not of the same sentences and seeds.")
    observed = abs(f1_of_counts(left.sum(0)) - f1_of_counts(right.sum(0)))
    difference = (right - left).astype(np.float64)  # [N, 3]
    generator = np.random.default_rng(seed)
    reached = 0
    for start in range(0, rounds, _ROUNDS_AT_A_TIME):
        shape = [min(_ROUNDS_AT_A_TIME, rounds - start), len(left)]
        moved = generator.integers(0, 2, shape).astype(np.float64) @ difference  # [R, 3]
        given = f1_of_counts(left.sum(0) + moved) - f1_of_counts(right.sum(0) - moved)
        # Rounding must not lose rounds that give the same counts.
        reached += int((np.abs(given) >= observed - 1e-10).sum())
    return (reached + 1) / (rounds + 1)
