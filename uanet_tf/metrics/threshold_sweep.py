"""Scores of the gate over many thresholds, and the choice of Gamma on a development set.

The gate only matters at tokens where draft and refiner disagree, so the sweep starts with the
draft's labels (Gamma so high that nothing is refined), lowers Gamma, and rescores only the
sentences in which a disagreeing token has just crossed it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uanet_tf.metrics.scoring import Labels, f1_of_counts, sentence_counts

_STEPS = 40


class SweepPoint(NamedTuple):
    """The gate at one threshold.

    Attributes:
      threshold: Gamma, nats.
      score: F1 of entities or accuracy of tokens, percent.
      refined_fraction: share of tokens with more uncertainty than Gamma.
    """

    threshold: float
    score: float
    refined_fraction: float


def tune_threshold(
    gold: Labels,
    draft: Labels,
    refined: Labels,
    uncertainty: Sequence[Sequence[float]],
    *,
    task: str,
    thresholds: Sequence[float] | None = None,
) -> float:
    """The threshold with the best score on a development set, in nats; see ``sweep_thresholds``.

    At equal scores the larger one: it refines fewer tokens, which costs less, and departs from the
    draft only where that has raised the score.
    """
    points = sweep_thresholds(gold, draft, refined, uncertainty, task=task, thresholds=thresholds)
    return max(points, key=lambda point: (point.score, point.threshold)).threshold


def sweep_thresholds(
    gold: Labels,
    draft: Labels,
    refined: Labels,
    uncertainty: Sequence[Sequence[float]],
    *,
    task: str,
    thresholds: Sequence[float] | None = None,
) -> list[SweepPoint]:
    """Scores the gated labels at each threshold: a point for each, thresholds ascending.

    Args:
      draft, refined: labels in the model's own scheme, not repaired: the gate works on these.
        Reading them as spans is lenient. Those of the refiner are of all tokens.
      uncertainty: of each token, nats.
      task: "ner" (entity F1) or "pos" (accuracy).
      thresholds: what to try; default: 0 (all refined), a value above every uncertainty (nothing
        refined), and 40 quantiles of the uncertainty at which draft and refiner disagree, since
        only there does the gate change anything.
    """
    nats = np.concatenate([np.asarray(row, dtype=np.float32) for row in uncertainty])
    changes = [
        (float(np.float32(value)), sentence, position)
        for sentence, rows in enumerate(zip(draft, refined, uncertainty, strict=True))
        for position, (before, after, value) in enumerate(zip(*rows, strict=True))
        if before != after
    ]
    changes.sort(reverse=True)
    if thresholds is None:
        thresholds = _candidates(nats, np.array([value for value, _, _ in changes]))
    labels = [list(row) for row in draft]
    counts = sentence_counts(gold, labels, task=task)
    points, position = [], 0
    for threshold in sorted(thresholds, reverse=True):
        limit = np.float32(threshold)
        touched = set()
        while position < len(changes) and changes[position][0] > limit:
            _, sentence, token = changes[position]
            labels[sentence][token] = refined[sentence][token]
            touched.add(sentence)
            position += 1
        for sentence in touched:
            rows = [gold[sentence]], [labels[sentence]]
            counts[sentence] = sentence_counts(*rows, task=task)
        score = float(f1_of_counts(counts.sum(0)))
        points.append(SweepPoint(threshold, score, float(np.mean(nats > limit))))
    return points[::-1]


def _candidates(nats: np.ndarray, disagreeing: np.ndarray) -> list[float]:
    """Thresholds worth trying: 0, quantiles of ``disagreeing``, and one above all ``nats``."""
    values = [0.0, _round_up(float(nats.max()))]
    if len(disagreeing):
        quantiles = np.quantile(disagreeing, np.linspace(0.0, 1.0, _STEPS + 2)[1:-1])
        values += [_round_up(float(value)) for value in quantiles]
    return sorted(set(values))


def _round_up(value: float) -> float:
    """The next larger number of three significant digits, for a readable configuration."""
    if value <= 0.0:
        return 0.0
    decimals = 2 - math.floor(math.log10(value))
    return round(math.ceil(value * 10.0**decimals) / 10.0**decimals, max(decimals, 0))
