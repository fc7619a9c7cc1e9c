"""Scores of parts of a corpus: by the length of sentences and entities, by words seen or not."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from uanet_tf.data import tag_schemes
from uanet_tf.metrics.scoring import Labels, right_tokens
from uanet_tf.metrics.span_scores import span_scores

SENTENCE_LENGTHS = (1, 6, 11, 21, 41)
ENTITY_LENGTHS = (1, 2, 3, 4)
_Keep = Callable[[int, tag_schemes.Span], bool]


class GroupScore(NamedTuple):
    """Score of a part of a corpus.

    Attributes:
      name: such as "6-10".
      score: F1 of its entities, or accuracy of its tokens, percent.
      size: number of its entities in the file, or of its tokens.
    """

    name: str
    score: float
    size: int


def scores_by_sentence_length(gold: Labels, given: Labels, *, task: str) -> list[GroupScore]:
    """Scores of short and long sentences, in tokens; groups without members are left out."""
    lengths = np.array(list(map(len, gold)))
    parts = []
    for name, low, high in _ranges(SENTENCE_LENGTHS):
        kept = (lengths >= low) & (lengths < high)
        parts.append((name, kept))
    if task == "pos":
        right = right_tokens(gold, given, task=task)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        return _of_tokens([(name, kept[sentence]) for name, kept in parts], right)
    return _of_spans(gold, given, [(name, _sentences(kept)) for name, kept in parts])


def scores_by_entity_length(gold: Labels, given: Labels) -> list[GroupScore]:
    """F1 of short and long entities, in tokens."""

    def between(low: int, high: float) -> _Keep:
        return lambda _, span: low <= span.end - span.start < high

    parts = [(name, between(low, high)) for name, low, high in _ranges(ENTITY_LENGTHS)]
    return _of_spans(gold, given, parts)


def scores_by_known_words(
    gold: Labels, given: Labels, known: Sequence[Sequence[bool]], *, task: str
) -> list[GroupScore]:
    """Scores where all words are known to the tagger, and where one is not.

    Args:
      gold: labels of the file.
      given: labels of the tagger.
      known: for each token whether its word has a vector of its own.
      task: "ner": of entities; "pos": of tokens.
    """
    names = ("known words", "an unknown word")
    if task == "pos":
        flags = np.array([value for row in known for value in row], bool)
        right = right_tokens(gold, given, task=task)
        return _of_tokens(list(zip(names, (flags, ~flags), strict=True)), right)

    def all_known(index: int, span: tag_schemes.Span) -> bool:
        return all(known[index][span.start : span.end])

    parts: list[tuple[str, _Keep]] = [
        (names[0], all_known),
        (names[1], lambda index, span: not all_known(index, span)),
    ]
    return _of_spans(gold, given, parts)


def _ranges(starts: Sequence[int]) -> Iterator[tuple[str, int, float]]:
    """(name, first, first of the next): "1-5", ..., "41+"."""
    for low, high in zip(starts, [*starts[1:], None], strict=True):
        if high is None:
            yield f"{low}+", low, float("inf")
        else:
            yield str(low) if high == low + 1 else f"{low}-{high - 1}", low, high


def _sentences(kept: np.ndarray) -> _Keep:
    return lambda index, _: bool(kept[index])


def _of_spans(gold: Labels, given: Labels, parts: list[tuple[str, _Keep]]) -> list[GroupScore]:
    readings = [
        [tag_schemes.decode_spans(row, tag_schemes.BIOES) for row in rows] for rows in (gold, given)
    ]
    found = []
    for name, keep in parts:
        left, right = (
            [[span for span in row if keep(index, span)] for index, row in enumerate(rows)]
            for rows in readings
        )
        scores = span_scores(left, right)
        if scores.support or any(right):
            found.append(GroupScore(name, scores.f1, scores.support))
    return found


def _of_tokens(parts: list[tuple[str, np.ndarray]], right: np.ndarray) -> list[GroupScore]:
    return [
        GroupScore(name, 100.0 * float(right[kept].mean()), int(kept.sum()))
        for name, kept in parts
        if kept.any()
    ]
