"""Checks sentences and gives their tokens."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from uanet_lite.input_error import InputError
from uanet_lite.tokenizer import Tokenizer

Sentence = str | Sequence[str]
MAX_TOKEN_CHARS = 1_000


class Tokens(NamedTuple):
    """A text, its tokens, and the first and end character of each."""

    text: str
    tokens: list[str]
    starts: list[int]
    ends: list[int]


def read_sentence(sentence: Any, name: str, tokenizer: Tokenizer) -> Tokens:
    """Splits a text into tokens, or joins a list of words by single blanks.

    Args:
      sentence: a text or a list of words; either may be empty.
      name: its name in messages.
      tokenizer: cuts texts.

    Raises:
      InputError: neither of them; a word that is empty, no string, no Unicode text, or of more
        than 1,000 characters.
    """
    if isinstance(sentence, str):
        offsets = tokenizer.spans(sentence)
        tokens = [sentence[start:end] for start, end in offsets]
        _check(tokens, name)
        return Tokens(
            sentence, tokens, [start for start, _ in offsets], [end for _, end in offsets]
        )
    unordered = isinstance(sentence, bytes | Mapping | set | frozenset)
    if unordered or not isinstance(sentence, Iterable):
        raise InputError(f"{name} must be a text or a list of words. Received: {sentence!r:.60}")
    tokens = list(sentence)
    _check(tokens, name)
    ends = [end - 1 for end in itertools.accumulate(len(token) + 1 for token in tokens)]
    starts = [end - len(token) for end, token in zip(ends, tokens, strict=True)]
    return Tokens(" ".join(tokens), tokens, starts, ends)


def _check(tokens: list[Any], name: str) -> None:
    for position, token in enumerate(tokens):
        if not isinstance(token, str) or not token:
            raise InputError(
                f"{name}: word {position} must be a string that is not empty. "
                f"Received: {token!r:.60}"
            )
        if len(token) > MAX_TOKEN_CHARS:
            raise InputError(
                f"{name}: a word of {len(token):,} characters ({token[:30]!r}...), "
                f"the limit is {MAX_TOKEN_CHARS:,}."
            )
        if not token.isascii() and any("\ud800" <= character <= "\udfff" for character in token):
            raise InputError(f"{name}: word {position} is not valid Unicode text: {token!r:.60}")
