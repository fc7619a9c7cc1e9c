"""Text in the columns of a terminal: its width, padding, cutting."""

import functools
from collections.abc import Sequence

import wcwidth

from uanet_lite.printable import printable


@functools.lru_cache(maxsize=65_536)
def display_width(text: str) -> int:
    """Columns that ``text`` takes in a terminal; an emoji of several joined ones is one."""
    if text.isascii():
        return len(text)
    width = wcwidth.wcswidth(text)
    # Control characters have no width; ``shorten`` writes them out in what is shown.
    return width if width >= 0 else sum(max(wcwidth.wcwidth(c), 0) for c in text)


def pad(text: str, width: int) -> str:
    """``text`` filled with blanks on the right to ``width`` columns."""
    return text + " " * (width - display_width(text))


def align(
    rows: Sequence[Sequence[str]], *, left: int = 1, least: Sequence[int] = (0, 0), gap: int = 2
) -> list[str]:
    """The lines of a table: the first ``left`` columns to the left, the others to the right.

    ``least``: terminal columns that the first column takes at least, and that each other does;
    ``gap`` blanks part two columns.
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    widths = [max(width, least[number > 0]) for number, width in enumerate(widths)]
    lines = []
    for row in rows:
        cells = [pad(cell, width) for cell, width in zip(row[:left], widths, strict=False)]
        cells += [cell.rjust(w) for cell, w in zip(row[left:], widths[left:], strict=True)]
        lines.append((" " * gap).join(cells).rstrip())
    return lines


def shorten(text: str, width: int) -> str:
    """``text`` cut to ``width`` columns; what a terminal would obey is shown, see `printable`."""
    text = printable(text)
    if display_width(text) <= width:
        return text
    kept = ""
    for part in wcwidth.iter_graphemes(text):
        if display_width(kept + part) > width - 1:
            break
        kept += part
    return kept + "…"
