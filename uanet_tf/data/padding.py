"""Sentences as the arrays that a model takes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uanet_tf.errors import InputError


def pad(sentences: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    """Sentences as the arrays that ``model.predict`` takes.

    Args:
      sentences: lists of words.

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
    rows = [_checked(sentence, index) for index, sentence in enumerate(sentences)]
    lengths = np.array([len(row) for row in rows], np.int32)
    tokens = np.full([len(rows), max([1, *map(len, rows)])], "", dtype=object)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = row
    return {"tokens": tokens, "lengths": lengths}


def check_predict_input(inputs: Any) -> None:
    """Raises InputError for texts and lists of words, which ``model.predict`` does not take."""
    given = inputs.values() if isinstance(inputs, Mapping) else [inputs]
    if any(isinstance(value, str | list | tuple) for value in given):
        raise InputError(
            "model.predict takes arrays: model.predict(uanet_tf.pad(sentences)) for lists of "
            "words. uanet_tf.tag(model, sentences) takes lists of words and text as they are."
        )


def _checked(sentence: Sequence[str], index: int) -> list[str]:
    is_list = isinstance(sentence, Sequence) and not isinstance(sentence, str | bytes)
    if not is_list or not all(isinstance(token, str) for token in sentence):
        raise InputError(f"sentences[{index}] must be a list of words. Received: {sentence!r:.60}")
    return list(sentence)
