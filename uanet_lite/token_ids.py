"""Tokens to ids: the rules of ``uanet_tf.data.lookup``, in Python and NumPy."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the ids of symbols are read where there is no NumPy
    import numpy as np

PADDING_ID, UNKNOWN_ID, FIRST_ID = 0, 1, 2

# TensorFlow's tables are of one version of Unicode each, Python's change with its version.
# Digits of Unicode 15, which Python 3.11 does not know:
_NEW_DIGITS = (range(0x11F50, 0x11F5A), range(0x1E4F0, 0x1E4FA))
# Capital letters of Unicode 14, which TensorFlow does not lower:
_NEW_CAPITALS = (
    *(range(code, code + 1) for code in (0x2C2F, 0xA7C0, 0xA7D0, 0xA7D6, 0xA7D8)),
    range(0x10570, 0x10596),
)
# Replaces such a letter while others are lowered: no letter, so that a word ends there.
_STAND_IN = "\U0010ffff"
_KEPT = frozenset(chr(code) for codes in _NEW_CAPITALS for code in codes) | {_STAND_IN}
_ASCII_DIGITS = str.maketrans(dict.fromkeys("123456789", "0"))


def normalize_digits(text: str) -> str:
    """Every decimal digit, of any script, becomes 0."""
    if text.isascii():
        return text.translate(_ASCII_DIGITS)
    return "".join("0" if _is_digit(character) else character for character in text)


def lower(text: str) -> str:
    """Lower case by Unicode's rules, of the version that TensorFlow knows.

    One difference remains: whether a capital sigma ends a word if a character that is newer than
    Unicode 13 follows or precedes it.
    """
    if text.isascii() or _KEPT.isdisjoint(text):
        return text.lower()
    kept = [character for character in text if character in _KEPT]
    text = "".join(_STAND_IN if character in _KEPT else character for character in text)
    parts = text.lower().split(_STAND_IN)
    return "".join(part + letter for part, letter in zip(parts, [*kept, ""], strict=True))


def normalize_word(word: str, *, digits: bool, lowercase: bool) -> str:
    """The form under which training looks a word up: digits of any script as 0, lower case."""
    word = normalize_digits(word) if digits else word
    return lower(word) if lowercase else word


def _is_digit(character: str) -> bool:
    return character.isdecimal() or any(ord(character) in codes for codes in _NEW_DIGITS)


class TokenLookup:
    """Maps tokens to word ids and character ids, like the layer that the model was trained with.

    Args:
      words: normalised, from id 2 on as ``chars``.
      digits: read every digit as 0, in words and characters.
      lowercase: look words up in lower case.
      max_chars: characters read of a word; a longer one keeps its two ends.
    """

    def __init__(
        self,
        words: Iterable[str],
        chars: Iterable[str],
        *,
        digits: bool,
        lowercase: bool,
        max_chars: int,
    ):
        self._words = {word: number for number, word in enumerate(words, FIRST_ID)}
        self._chars = {char: number for number, char in enumerate(chars, FIRST_ID)}
        self._digits, self._lowercase = digits, lowercase
        self._head, self._tail = max_chars // 2, max_chars - max_chars // 2

    def __call__(self, tokens: Sequence[str]) -> "tuple[np.ndarray, np.ndarray]":
        """Word ids [N] (1: unknown) and character ids [N, W] (0: padding, 1: unknown), int32.

        W is the length of the longest token, at most ``max_chars``, at least 1.
        """
        import numpy as np

        spelled = [normalize_digits(token) for token in tokens] if self._digits else list(tokens)
        words = map(lower, spelled) if self._lowercase else spelled
        word_ids = np.array([self._words.get(word, UNKNOWN_ID) for word in words], np.int32)
        rows = [self._char_ids(token) for token in spelled]
        width = max(1, max(map(len, rows), default=1))
        char_ids = np.full([len(rows), width], PADDING_ID, np.int32)
        for row, ids in enumerate(rows):
            char_ids[row, : len(ids)] = ids
        return word_ids, char_ids

    def _char_ids(self, token: str) -> list[int]:
        if len(token) > self._head + self._tail:
            token = token[: self._head] + token[-self._tail :]
        return [self._chars.get(char, UNKNOWN_ID) for char in token]
