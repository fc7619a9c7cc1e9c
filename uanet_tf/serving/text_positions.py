"""The most tokens that a text can have."""

import re

# A text model joins some of these pieces to one token, and splits none.
_PIECE = re.compile(r"\w+|[^\w\s]")


def count_pieces(text: str) -> int:
    """Runs of letters and digits, and other characters, at least 1: no tokenizer finds more.

    A combining mark counts as a piece of its own.
    """
    return max(1, sum(1 for _ in _PIECE.finditer(text)))
