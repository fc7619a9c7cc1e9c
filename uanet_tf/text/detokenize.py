"""From tokens back to normally written text."""

import re
from collections.abc import Sequence

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
