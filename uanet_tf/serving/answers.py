"""A server's answer for one sentence."""

from collections.abc import Sequence
from typing import Any


def character_offsets(text: str, offsets: list[int]) -> list[int]:
    """Byte offsets into the UTF-8 form of ``text`` as character offsets.

    An offset inside a character is that character's.
    """
    if text.isascii():
        return list(offsets)
    character_of: list[int] = []
    for position, character in enumerate(text):
        character_of += [position] * len(character.encode("utf-8"))
    character_of.append(len(text))
    return [character_of[min(offset, len(character_of) - 1)] for offset in offsets]


def is_tensor(values: Any, lengths: Sequence[int], kind: type) -> bool:
    """Whether an output has a row for each sentence, as long as the sentence or longer.

    Args:
      values: the output, [B, T] if it is ours.
      lengths: tokens of each sentence.
      kind: what its elements are.
    """
    return (
        isinstance(values, list)
        and len(values) == len(lengths)
        and all(isinstance(row, list) for row in values)
        and all(len(row) >= length for row, length in zip(values, lengths, strict=True))
        and all(
            issubclass(found, kind) for found in {type(value) for row in values for value in row}
        )
    )
