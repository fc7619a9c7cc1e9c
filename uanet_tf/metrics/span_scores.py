"""Precision, recall and F1 of entities, equal to seqeval's strict mode to the last bit.

seqeval is the reference of published tables, and the tests compare with it. It is not
called here because it imports scikit-learn, which takes seconds, and because
each of its calls parses all labels again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from uanet_lite.tag_schemes import Span

SentenceSpans = Sequence[Sequence[Span]]


class Scores(NamedTuple):
    """Scores in percent, 0 where the denominator is 0, and the number of gold items."""

    precision: float
    recall: float
    f1: float
    support: int


def scores(right: int, predicted: int, gold: int) -> Scores:
    """Scores from three counts: correct items, predicted items, gold items."""
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return Scores(100.0 * precision, 100.0 * recall, 100.0 * f1, gold)


def span_scores(gold: SentenceSpans, predicted: SentenceSpans) -> Scores:
    """Scores over all entities; one is right if type and both ends are."""
    right = _count_shared(gold, predicted)
    return scores(right.total(), _count(predicted).total(), _count(gold).total())


def span_scores_by_type(gold: SentenceSpans, predicted: SentenceSpans) -> dict[str, Scores]:
    """Scores of each type that is in either, in alphabetical order."""
    in_gold, given = _count(gold), _count(predicted)
    right = _count_shared(gold, predicted)
    return {
        name: scores(right[name], given[name], in_gold[name]) for name in sorted(in_gold | given)
    }


def _count(sentences: Iterable[Iterable[Span]]) -> Counter[str]:
    return Counter(span.type for spans in sentences for span in spans)


def _count_shared(gold: SentenceSpans, predicted: SentenceSpans) -> Counter[str]:
    pairs = zip(gold, predicted, strict=True)
    return Counter(span.type for left, right in pairs for span in set(left) & set(right))
