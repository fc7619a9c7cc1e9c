"""Sentences parted into folds."""

import itertools
from collections.abc import Sequence

import numpy as np

from uanet_tf.data.conll import Sentence
from uanet_tf.data.documents import marks_documents
from uanet_tf.errors import InputError


def fold_numbers(sentences: Sequence[Sentence], count: int, seed: int) -> list[int]:
    """The fold of each sentence, 0 to ``count`` - 1; folds have about as many tokens each.

    The sentences of a document stay together, and without documents those with the same words: a
    model that saw them would know the answer.

    Args:
      sentences: of a file.
      count: folds, at least 2.
      seed: of the order in which they are dealt out.

    Raises:
      InputError: there are fewer documents, or different sentences, than folds.
    """
    if marks_documents(sentences):
        groups = list(itertools.accumulate(int(sentence.new_document) for sentence in sentences))
        kind = "documents"
    else:
        names: dict[tuple[str, ...], int] = {}
        groups = [names.setdefault(sentence.tokens, len(names)) for sentence in sentences]
        kind = "different sentences"
    numbers = np.unique(groups, return_inverse=True)[1]
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
