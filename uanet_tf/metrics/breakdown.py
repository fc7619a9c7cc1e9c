"""Scores of parts of a corpus, and which label was given where the file has which."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from uanet_lite import tag_schemes
from uanet_tf.metrics.resampling import f1_interval
from uanet_tf.metrics.scoring import Labels, right_tokens

SENTENCE_LENGTHS = (1, 6, 11, 21, 41)
ENTITY_LENGTHS = (1, 2, 3, 4)
# Names of the two parts of ``scores_by_known_words``.
TRAINING_WORDS = ("words of training", "an unseen word")
_Keep = Callable[[int, tag_schemes.Span], bool]


class GroupScore(NamedTuple):
    """Score of a part of a corpus.

    Attributes:
      name: such as "6-10".
      score: F1 of its entities, or accuracy of its tokens, percent.
      size: number of its entities in the file, or of its tokens.
      low: lower end of the 95 % interval of ``score``, see ``f1_interval``.
      high: upper end.
    """

    name: str
    score: float
    size: int
    low: float
    high: float


def scores_by_sentence_length(gold: Labels, given: Labels, *, task: str) -> list[GroupScore]:
    """Scores of short and long sentences, in tokens; groups without members are left out."""
    lengths = np.array(list(map(len, gold)))
    parts = [
        (name, (lengths >= low) & (lengths < high)) for name, low, high in _ranges(SENTENCE_LENGTHS)
    ]
    if task == "pos":
        rows = [np.full(length, number) for number, length in enumerate(lengths)]
        flags = [(name, [kept[row] for row in rows]) for name, kept in parts]
        return _of_tokens(gold, given, flags)
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
    """Scores where the training data had all words, and where it had not.

    Args:
      gold: labels of the file.
      given: labels of the tagger.
      known: for each token whether the training data had its word.
      task: "ner": of entities; "pos": of tokens.
    """
    names = TRAINING_WORDS
    if task == "pos":
        flags = [np.asarray(row, bool) for row in known]
        parts_of_tokens = [(names[0], flags), (names[1], [~row for row in flags])]
        return _of_tokens(gold, given, parts_of_tokens)

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
        counts = np.zeros([len(gold), 3], np.int64)
        for index, spans in enumerate(zip(*readings, strict=True)):
            true, predicted = ({span for span in row if keep(index, span)} for row in spans)
            counts[index] = len(true & predicted), len(predicted), len(true)
        found.append((name, counts))
    return _scores(found)


def _of_tokens(
    gold: Labels, given: Labels, parts: Sequence[tuple[str, Sequence[np.ndarray]]]
) -> list[GroupScore]:
    """Scores of tokens; a part is a flag for each token of each sentence."""
    ends = np.cumsum([len(row) for row in gold])[:-1]
    right = np.split(right_tokens(gold, given, task="pos"), ends)
    found = []
    for name, flags in parts:
        sizes = [int(row.sum()) for row in flags]
        hits = [int(row[kept].sum()) for row, kept in zip(right, flags, strict=True)]
        found.append((name, np.stack([hits, sizes, sizes], axis=1)))
    return _scores(found)


def _scores(parts: Sequence[tuple[str, np.ndarray]]) -> list[GroupScore]:
    """Scores from each part's counts of each sentence: right, predicted and gold items."""
    found = []
    for name, counts in parts:
        right, predicted, gold = counts.sum(axis=0)
        if predicted + gold:
            score = 200.0 * float(right) / float(predicted + gold)
            found.append(GroupScore(name, score, int(gold), *f1_interval(counts)))
    return found


OTHER = "(other)"


class Confusion(NamedTuple):
    """Counts of tokens.

    Attributes:
      names: labels, or types of entities and "O"; the most frequent of the file first.
      counts: [gold][given], in the order of ``names``.
    """

    names: list[str]
    counts: list[list[int]]


def confusion(gold: Labels, given: Labels, *, task: str, most: int = 15) -> Confusion:
    """Counts tokens by the label of the file and the label given.

    Args:
      gold: labels of the file, a sequence for each sentence.
      given: labels of the tagger for the same tokens.
      task: "ner": the types of the tokens' labels are compared, without their letters; "pos".
      most: rows; what is rarer in both is counted as ``OTHER``.
    """

    def name(label: str) -> str:
        if task == "pos":
            return label
        letter, span_type = tag_schemes.split_label(label)
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
