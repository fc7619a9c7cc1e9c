"""How far a score of a sample of sentences may be from that of all such sentences."""

from collections.abc import Iterator

import numpy as np

from uanet_tf.metrics.sentence_counts import f1_of_counts

_CHUNK = 100  # samples at a time: bounds memory


def f1_interval(counts: np.ndarray, *, samples: int = 1000, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of F1, percent: percentiles of samples drawn with replacement.

    Sentences are drawn, not items, since the items of one sentence are alike. An interval of few
    sentences is too narrow, as with any bootstrap.

    Args:
      counts: [N, 3] of N sentences: right, predicted and gold items. With items for which the
        last two are equal, such as tokens, F1 is accuracy.
      samples: number of samples.
      seed: of the random numbers.

    Raises:
      ValueError: no sentence has an item.

    Reference:
      Efron and Tibshirani, 1993, "An Introduction to the Bootstrap", section 13.3.
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

    Both are scored on the same sentences, drawn with replacement.

    Args:
      left: [N, 3] counts of N sentences: right, predicted and gold items.
      right: those of the other labels of the same sentences.
      samples: number of samples.
      seed: of the random numbers.

    Reference:
      Efron and Tibshirani, 1993, "An Introduction to the Bootstrap", section 6.2.
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
    for first in range(0, samples, _CHUNK):
        yield random.multinomial(size, np.full(size, 1 / size), min(_CHUNK, samples - first))
