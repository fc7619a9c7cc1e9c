"""Which sentences are most worth annotating: those that the tagger is least sure of."""

import collections
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.errors import InputError


def _mean_information(sentence: TaggedSentence) -> float:
    if sentence.mutual_information is None:
        raise InputError("The model does not give it: set its `return_mutual_information`.")
    return sum(sentence.mutual_information) / len(sentence)


# {name: score of a sentence}; the highest come first.
SCORES: dict[str, Callable[[TaggedSentence], float]] = {
    "mean": lambda sentence: sum(sentence.uncertainty) / len(sentence),
    "sum": lambda sentence: sum(sentence.uncertainty),
    "max": lambda sentence: max(sentence.uncertainty),
    "least_confidence": lambda sentence: 1.0 - min(sentence.confidence),
    "mutual_information": _mean_information,
}
# Words that two sentences share, over all words of either, from which they say the same.
NEAR = 0.6
# Candidates for each sentence that is wanted: the rest is for those that are near-duplicates.
_SPARE = 10


class Ranked(NamedTuple):
    """A tagged sentence, its score (see ``SCORES``), and where it comes from, as given."""

    score: float
    sentence: TaggedSentence
    origin: Any = None


def rank(
    sentences: Iterable[tuple[Any, TaggedSentence]], by: str, top: int, *, diverse: bool = False
) -> list[Ranked]:
    """The sentences most worth annotating, the best first; equal ones in their order.

    Args:
      sentences: tagged, each behind its origin, which can be anything; empty ones are passed over.
        Read once, and only the candidates are kept.
      by: one of ``SCORES``: the mean, sum or highest uncertainty of the tokens ("sum" prefers long
        sentences), 1 less the lowest confidence of a token, or the mean mutual information.
      diverse: pass over a sentence that shares ``NEAR`` of its words with a better one. Of ten
        times ``top`` candidates; sentences of the same words are one.
    """
    score = SCORES[by]
    tagged = ((sentence, origin) for origin, sentence in sentences if sentence.tokens)
    candidates = (Ranked(score(sentence), sentence, origin) for sentence, origin in tagged)
    if not diverse:
        return _best(candidates, top)
    best = _best_of_each(candidates, _SPARE * top)
    return list(_without_near_duplicates(best))[:top]


def _best(candidates: Iterable[Ranked], count: int) -> list[Ranked]:
    return heapq.nlargest(count, candidates, key=lambda ranked: ranked.score)


def _best_of_each(candidates: Iterable[Ranked], count: int) -> list[Ranked]:
    """The best candidates, of those with the same words the best or first."""
    found: dict[frozenset[str], Ranked] = {}
    for candidate in candidates:
        words = _words(candidate.sentence)
        before = found.get(words)
        if before is None or before.score < candidate.score:
            found.pop(words, None)  # so that equal scores stay in the order of the sentences
            found[words] = candidate
        if len(found) > 2 * count:
            found = {_words(kept.sentence): kept for kept in _best(found.values(), count)}
    return _best(found.values(), count)


def _words(sentence: TaggedSentence) -> frozenset[str]:
    return frozenset(token.casefold() for token in sentence.tokens)


def _without_near_duplicates(ranked: Sequence[Ranked]) -> Iterator[Ranked]:
    sizes: list[int] = []  # different words of each sentence taken
    places: dict[str, list[int]] = collections.defaultdict(list)  # {word: sentences taken}
    for item in ranked:
        words = _words(item.sentence)
        shared = collections.Counter(number for word in words for number in places[word])
        if any(n >= NEAR * (len(words) + sizes[k] - n) for k, n in shared.items()):
            continue
        for word in words:
            places[word].append(len(sizes))
        sizes.append(len(words))
        yield item
