"""Sentences of one document: passages that are read in one piece, folds that keep it whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from uanet_lite.sentence import Sentence
from uanet_tf.errors import InputError

T = TypeVar("T")


def the_sentence(item: Any) -> Sentence:
    """The item itself, where it is the sentence."""
    return item


# Sentences that are read side by side are padded to the longest. That may take many times their
# tokens, and memory: at most as many times as this.
MOST_PADDING = 16


def passages(
    items: Iterable[T],
    max_tokens: int,
    *,
    padded: bool = False,
    key: Callable[[T], Sentence] = the_sentence,
) -> Iterator[list[T]]:
    """Items of consecutive sentences of one document, as many as ``max_tokens`` allow, in order.

    Args:
      max_tokens: most tokens in a passage; a longer single sentence still makes one. 0: each
        sentence by itself.
      padded: whether the sentences will be rows of a batch. Padded to the longest, those of a
        passage then have at most ``MOST_PADDING`` times ``max_tokens``.
      key: the sentence of an item.
    """
    passage: list[T] = []
    size = longest = 0
    for item in items:
        sentence = key(item)
        length = len(sentence.tokens)
        full = size + length > max_tokens
        if padded:
            full |= (len(passage) + 1) * max(longest, length) > MOST_PADDING * max_tokens
        if passage and (sentence.new_document or full):
            yield passage
            passage, size, longest = [], 0, 0
        passage.append(item)
        size, longest = size + length, max(longest, length)
        if size >= max_tokens:  # full: not held back until the next sentence is read
            yield passage
            passage, size, longest = [], 0, 0
    if passage:
        yield passage


def marks_documents(sentences: Sequence[Sentence]) -> bool:
    """Whether a file marks its documents: a second one starts in it."""
    return any(sentence.new_document for sentence in sentences[1:])


def independent_units(sentences: Sequence[Sentence]) -> np.ndarray:
    """The number of the document of each sentence; of the sentence where none are marked: [S]."""
    if not marks_documents(sentences):
        return np.arange(len(sentences))
    return np.cumsum([index > 0 and s.new_document for index, s in enumerate(sentences)])


def fold_numbers(sentences: Sequence[Sentence], count: int, seed: int) -> list[int]:
    """The fold of each sentence, 0 to ``count`` - 1; folds have about as many tokens each.

    The sentences of a document stay together, and without documents those with the same words: a
    model that saw them would know the answer. ``seed`` is of the order in which they are dealt out.

    Raises:
      InputError: there are fewer documents, or different sentences, than folds.
    """
    if marks_documents(sentences):
        numbers, kind = independent_units(sentences), "documents"
    else:
        names: dict[tuple[str, ...], int] = {}
        numbers = np.array([names.setdefault(tuple(s.tokens), len(names)) for s in sentences], int)
        kind = "different sentences"
    sizes = np.bincount(numbers, weights=[len(sentence.tokens) for sentence in sentences])
    if len(sizes) < count:
        raise InputError(f"{len(sizes):,} {kind} cannot be parted into {count:,} folds.")
    fold = np.zeros(len(sizes), int)
    filled = np.zeros(count)
    for position, group in enumerate(np.random.default_rng(seed).permutation(len(sizes))):
        # One for each first: no fold is empty, however uneven documents are.
        fold[group] = position if position < count else int(np.argmin(filled))
        filled[fold[group]] += sizes[group]
    return fold[numbers].tolist()
