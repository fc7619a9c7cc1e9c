"""Scores of the gate over many thresholds, and the choice of Gamma on a development set.

The gate only matters at tokens where draft and refiner disagree, so the sweep starts
with the draft's labels (Gamma so high that nothing is refined), lowers Gamma, and rescores
only the sentences in which a disagreeing token has just crossed it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uanet_tf.metrics.scoring import Labels, items_of

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
    """Returns the threshold with the best score on a development set, in nats.

    At equal scores the larger one: it refines fewer tokens, which costs less, and departs from the
    draft only where that has raised the score.

    Args: see ``sweep_thresholds``.
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
    """Scores the gated labels at each threshold.

    Args:
      gold: labels of the file, a sequence for each sentence.
      draft: labels of the draft, in the model's own scheme, not repaired: the gate works
        on these. Reading them as spans is lenient.
      refined: labels of the refiner for all tokens, likewise.
      uncertainty: uncertainty of each token, nats.
      task: "ner" (entity F1) or "pos" (accuracy).
      thresholds: what to try; default: 0 (all refined), a value above every uncertainty
        (nothing refined), and 40 quantiles of the uncertainty at which draft and refiner
        disagree, since only there does the gate change anything.

    Returns:
      One point per threshold, thresholds ascending.
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
    counter = _Counter(gold, draft, task)
    points, position = [], 0
    for threshold in sorted(thresholds, reverse=True):
        limit = np.float32(threshold)
        touched: dict[int, list[int]] = {}
        while position < len(changes) and changes[position][0] > limit:
            _, sentence, token = changes[position]
            touched.setdefault(sentence, []).append(token)
            position += 1
        for sentence, tokens in touched.items():
            counter.relabel(sentence, tokens, refined[sentence])
        points.append(SweepPoint(threshold, counter.score(), float(np.mean(nats > limit))))
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


class _Counter:
    """Keeps counts of a corpus up to date while labels of single sentences change."""

    def __init__(self, gold: Labels, labels: Labels, task: str) -> None:
        self._task = task
        self._gold = [set(items_of(row, task)) for row in gold]
        self._labels = [list(row) for row in labels]
        predicted = [set(items_of(row, task)) for row in self._labels]
        self._sizes = [len(spans) for spans in predicted]
        self._right = [
            len(spans & truth) for spans, truth in zip(predicted, self._gold, strict=True)
        ]
        self._total_gold = sum(map(len, self._gold))
        self._total_size = sum(self._sizes)
        self._total_right = sum(self._right)

    def relabel(self, sentence: int, tokens: list[int], source: Sequence[str]) -> None:
        """Takes the labels of some tokens of a sentence from ``source``."""
        for token in tokens:
            self._labels[sentence][token] = source[token]
        spans = set(items_of(self._labels[sentence], self._task))
        right = len(spans & self._gold[sentence])
        self._total_size += len(spans) - self._sizes[sentence]
        self._total_right += right - self._right[sentence]
        self._sizes[sentence], self._right[sentence] = len(spans), right

    def score(self) -> float:
        """F1 or accuracy, percent."""
        total = self._total_gold + self._total_size
        return 200.0 * self._total_right / total if total else 0.0
