"""Scores of parts of a corpus, and which label was given where the file has which."""

import bisect
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from uanet_lite.tag_schemes import Span, split_label
from uanet_tf.metrics.resampling import f1_interval
from uanet_tf.metrics.scoring import Labels, f1_of_counts, items_of

SENTENCE_LENGTHS = (1, 6, 11, 21, 41)
ENTITY_LENGTHS = (1, 2, 3, 4)
# Names of the two parts of ``scores_by_known_words``.
TRAINING_WORDS = ("words of training", "an unseen word")


class GroupScore(NamedTuple):
    """Score of a part of a corpus.

    Attributes:
      name: such as "6-10".
      score: F1 of its entities, or accuracy of its tokens, percent.
      size: number of its entities in the file, or of its tokens.
      low, high: ends of the 95 % interval of ``score``, see ``f1_interval``.
    """

    name: str
    score: float
    size: int
    low: float
    high: float


def scores_by_sentence_length(gold: Labels, given: Labels, *, task: str) -> list[GroupScore]:
    """Scores of short and long sentences, in tokens; groups without members are left out."""
    return _by_range(gold, given, SENTENCE_LENGTHS, lambda index, _: len(gold[index]), task)


def scores_by_entity_length(gold: Labels, given: Labels) -> list[GroupScore]:
    """F1 of short and long entities, in tokens."""
    return _by_range(gold, given, ENTITY_LENGTHS, lambda _, span: span.end - span.start, "ner")


def scores_by_known_words(
    gold: Labels, given: Labels, known: Sequence[Sequence[bool]], *, task: str
) -> list[GroupScore]:
    """Scores where training had all words, and where not; ``known`` tells it of each token."""

    def part(index: int, span: Span) -> str:
        return TRAINING_WORDS[not all(known[index][span.start : span.end])]

    return _scores(gold, given, TRAINING_WORDS, part, task)


def _by_range(
    gold: Labels, given: Labels, starts: Sequence[int], size: Callable[[int, Span], int], task: str
) -> list[GroupScore]:
    """Scores of "1-5", ..., "41+": ranges of a size, that begin at ``starts``."""
    names = [
        str(low) if high == low + 1 else f"{low}-{high - 1}"
        for low, high in itertools.pairwise(starts)
    ]
    names.append(f"{starts[-1]}+")

    def part(index: int, span: Span) -> str:
        return names[bisect.bisect(starts, size(index, span)) - 1]

    return _scores(gold, given, names, part, task)


def _scores(
    gold: Labels, given: Labels, names: Sequence[str], part: Callable[[int, Span], str], task: str
) -> list[GroupScore]:
    """Scores of parts of the items, named by ``part`` of sentence and span; none of empty ones."""
    counts = {name: np.zeros([len(gold), 3], np.int64) for name in names}
    for index, labels in enumerate(zip(gold, given, strict=True)):
        true, predicted = (set(items_of(row, task)) for row in labels)
        for place, items in enumerate((true & predicted, predicted, true)):
            for span in items:
                counts[part(index, span)][index, place] += 1
    return [
        GroupScore(name, float(f1_of_counts(found.sum(0))), int(found[:, 2].sum()), *ends)
        for name, found in counts.items()
        if found[:, 1:].any()
        for ends in [f1_interval(found)]
    ]


OTHER = "(other)"


class Confusion(NamedTuple):
    """Counts of tokens, [gold][given] in the order of ``names``, the most frequent first.

    Names are labels, or types of entities and "O".
    """

    names: list[str]
    counts: list[list[int]]


def confusion(gold: Labels, given: Labels, *, task: str, most: int = 15) -> Confusion:
    """Counts tokens by the label of the file and the label given.

    For "ner" the types of the labels are compared, without their letters. What is not among the
    ``most`` frequent names is counted as ``OTHER``.
    """

    def name(label: str) -> str:
        if task == "pos":
            return label
        letter, span_type = split_label(label)
        return span_type or letter

    pairs = Counter(
        (name(left), name(right))
        for rows in zip(gold, given, strict=True)
        for left, right in zip(*rows, strict=True)
    )
    sizes: Counter[str] = Counter()
    for pair, count in pairs.items():
        for each in pair:
            sizes[each] += count
    names = [each for each, _ in sizes.most_common(most)]
    if len(sizes) > most:
        names[-1] = OTHER
    row = {each: index for index, each in enumerate(names)}
    counts = [[0] * len(names) for _ in names]
    for (left, right), count in pairs.items():
        counts[row.get(left, len(names) - 1)][row.get(right, len(names) - 1)] += count
    return Confusion(names, counts)
