"""Whether two taggers differ by more than chance: approximate randomisation."""

import numpy as np

from uanet_tf.metrics.sentence_counts import f1_of_counts

_CHUNK = 256  # rounds at a time: bounds memory


def approximate_randomization(
    left: np.ndarray, right: np.ndarray, *, rounds: int = 10_000, seed: int = 0
) -> float:
    """p: how often chance alone gives a difference in F1 as large as that of two taggers.

    If the taggers were alike, it would not matter which of them gave the answers of a sentence. So
    in each round the answers of every sentence are exchanged with probability 1/2, and F1 is
    computed again. The runs of several seeds are added up: a sentence is exchanged with the answers
    of all of them.

    Args:
      left: [N, 3] counts of N sentences, see ``sentence_counts``; with several seeds their sum.
      right: those of the other tagger, with as many seeds.
      rounds: number of random exchanges.
      seed: of the random numbers.

    Returns:
      A probability, at least 1 / (rounds + 1).

    Raises:
      ValueError: the taggers differ in sentences or in gold items.

    Reference:
      Noreen, 1989, "Computer-Intensive Methods for Testing Hypotheses"; Yeh, 2000, "More accurate
      tests for the statistical significance of result differences".
    """
    if left.shape != right.shape or (left[:, 2] != right[:, 2]).any():
        raise ValueError("`left` and `right` are not of the same sentences and seeds.")
    observed = abs(f1_of_counts(left.sum(0)) - f1_of_counts(right.sum(0)))
    difference = (right - left).astype(np.float64)  # [N, 3]
    generator = np.random.default_rng(seed)
    reached = 0
    for start in range(0, rounds, _CHUNK):
        shape = [min(_CHUNK, rounds - start), len(left)]
        moved = generator.integers(0, 2, shape).astype(np.float64) @ difference  # [R, 3]
        given = f1_of_counts(left.sum(0) + moved) - f1_of_counts(right.sum(0) - moved)
        # Rounding must not lose rounds that give the same counts.
        reached += int((np.abs(given) >= observed - 1e-10).sum())
    return (reached + 1) / (rounds + 1)
