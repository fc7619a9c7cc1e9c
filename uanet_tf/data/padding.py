"""Sentences as the arrays that a model takes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from uanet_tf.errors import InputError
from uanet_tf.text.raw_text import check_text


def pad(sentences: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    """Sentences as the arrays that ``model.predict`` takes.

    Args:
      sentences: lists of words, or arrays of strings.

    Returns:
      {"tokens": [B, T] strings, "" after the last word; "lengths": [B] int32}. T is the length
      of the longest sentence, at least 1.

    Raises:
      InputError: something is not a list of words; names its position.

    Example:
      >>> model.predict(uanet_tf.pad([["Chelsea", "won"], ["Yes"]]))["labels"]
    """
    if isinstance(sentences, str):
        raise InputError("sentences must be lists of words; uanet_tf.tag takes text.")
    if isinstance(sentences, Mapping | set | frozenset) or not isinstance(sentences, Iterable):
        raise InputError(f"sentences must be a list of lists of words. Received: {sentences!r:.60}")
    rows = [_checked(sentence, index) for index, sentence in enumerate(sentences)]
    lengths = np.array([len(row) for row in rows], np.int32)
    tokens = np.full([len(rows), max([1, *map(len, rows)])], "", dtype=object)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = row
    return {"tokens": tokens, "lengths": lengths}


def check_predict_input(inputs: Any) -> None:
    """Raises InputError for what ``model.predict`` does not take.

    Texts, lists of words, a bare array, lengths that are not integers.
    """
    given = inputs.values() if isinstance(inputs, Mapping) else [inputs]
    bare = inputs is None or (not isinstance(inputs, Mapping) and hasattr(inputs, "dtype"))
    if bare or any(isinstance(value, str | list | tuple) for value in given):
        raise InputError(
            'model.predict takes a dictionary of the arrays "tokens" and "lengths": '
            "model.predict(uanet_tf.pad(sentences)) for lists of words. "
            "uanet_tf.tag(model, sentences) takes lists of words and text as they are."
        )
    of_batches = getattr(inputs, "element_spec", inputs)  # of a dataset
    if isinstance(of_batches, Mapping) and "lengths" in of_batches:
        check_lengths(of_batches["lengths"])


def check_lengths(lengths: Any) -> None:
    """Raises InputError for lengths that are not integers: fractions would be cut off."""
    kind = np.dtype(getattr(lengths.dtype, "as_numpy_dtype", lengths.dtype))
    if not np.issubdtype(kind, np.integer):
        raise InputError(f"lengths must be integers. Received: an array of {kind.name}.")


def _checked(sentence: Sequence[str], index: int) -> list[str]:
    is_list = isinstance(sentence, Sequence) and not isinstance(sentence, str | bytes)
    is_list |= isinstance(sentence, np.ndarray) and sentence.ndim == 1
    if not is_list or not all(isinstance(token, str) for token in sentence):
        raise InputError(f"sentences[{index}] must be a list of words. Received: {sentence!r:.60}")
    for position, token in enumerate(sentence):
        check_text(token, f"sentences[{index}][{position}]")
    return list(sentence)
