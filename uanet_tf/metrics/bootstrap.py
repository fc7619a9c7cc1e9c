"""How far a score of a sample of sentences may be from that of all such sentences."""

import numpy as np

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
    random = np.random.default_rng(seed)
    scores = []
    for first in range(0, samples, _CHUNK):
        drawn = random.multinomial(size, np.full(size, 1 / size), min(_CHUNK, samples - first))
        right, predicted, gold = (drawn @ counts).T
        scores.append(200 * right / (predicted + gold))
    low, high = np.percentile(np.concatenate(scores), [2.5, 97.5])
    return float(low), float(high)
