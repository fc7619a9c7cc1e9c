"""Where tokens stand in text: from tokens back to written text, and cut at characters."""

import bisect
import re
from collections.abc import Iterable, Sequence

_NO_BLANK_BEFORE = re.compile(
    r"[.,;:?!%)\]}»”…]|\.{2,}|[.!?]+|n['’]t|N['’]T|['’](?:s|S|m|M|d|D|ll|LL|re|RE|ve|VE)|''"
)
_NO_BLANK_BEHIND = frozenset("([{«“$£€#@") | {"``"}
_QUOTES = ('"', "'")


def detokenize(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int] | None]]:
    """Joins tokens by blanks, except for punctuation and clitics, which are attached.

    Quotation marks open and close by turns. A full stop after a token that ends in one ("Corp."
    and ".") is not written twice.

    Returns:
      The text, and each token's place in it; None for a full stop that was left out.
    """
    text = ""
    spans: list[tuple[int, int] | None] = []
    close, opened = True, dict.fromkeys(_QUOTES, False)
    for token in tokens:
        if token == "." and text.endswith("."):
            spans.append(None)
            close = False
            continue
        if token in _QUOTES and opened[token]:
            close = True
        if text and not close and not _NO_BLANK_BEFORE.fullmatch(token):
            text += " "
        spans.append((len(text), len(text) + len(token)))
        text += token
        close = token in _NO_BLANK_BEHIND
        if token in _QUOTES:
            opened[token] = close = not opened[token]
    return text, spans


Place = tuple[int, int]  # first character, the one after the last


def cut_at(places: Iterable[Place], edges: Iterable[int]) -> list[Place]:
    """The places, each in as many pieces as it has edges inside, and one more.

    Args:
      places: of tokens.
      edges: characters that a piece begins at; those between tokens change nothing.
    """
    order = sorted(set(edges))
    pieces = []
    for start, end in places:
        inside = order[bisect.bisect_right(order, start) : bisect.bisect_left(order, end)]
        pieces += list(zip([start, *inside], [*inside, end], strict=True))
    return pieces
