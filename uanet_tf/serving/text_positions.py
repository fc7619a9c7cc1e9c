"""Positions in texts, and the most tokens that a text can have."""

import itertools
import re
from collections.abc import Iterable

# A text model joins some of these pieces to one token, and splits none.
_PIECE = re.compile(r"\w+|[^\w\s]")


def character_offsets(text: str, offsets: list[int]) -> list[int]:
    """Byte offsets into the UTF-8 form of ``text`` as character offsets.

    An offset inside a character is that character's.
    """
    if text.isascii():
        return list(offsets)
    character_of: list[int] = []
    for position, character in enumerate(text):
        character_of += [position] * len(character.encode())
    character_of.append(len(text))
    return [character_of[min(offset, len(character_of) - 1)] for offset in offsets]


def byte_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Character offsets into ``text`` as byte offsets into its UTF-8 form."""
    if text.isascii():
        return list(offsets)
    places = list(itertools.accumulate((len(each.encode()) for each in text), initial=0))
    return [places[offset] for offset in offsets]


def count_pieces(text: str) -> int:
    """Runs of letters and digits, and other characters, at least 1: no tokenizer finds more.

    A combining mark counts as a piece of its own.
    """
    return max(1, sum(1 for _ in _PIECE.finditer(text)))
