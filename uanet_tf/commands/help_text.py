"""What --help says of a command, at a terminal's width."""

import itertools
import textwrap

WIDTH = 80  # absl, which shows the flags, takes it too


def fill_paragraphs(text: str, width: int = WIDTH) -> str:
    """Paragraphs with lines longer than ``width`` are wrapped anew; the rest stays as it is.

    A paragraph is lines that follow one another and are not indented: indented ones are examples
    and lists, whose lines mean something.
    """
    lines: list[str] = []
    for is_text, part in itertools.groupby(text.split("\n"), lambda line: line[:1].strip() != ""):
        group = list(part)
        if is_text and max(map(len, group)) > width:
            # A flag or a path is found again, and copied, in one piece.
            group = textwrap.wrap(
                " ".join(group), width, break_long_words=False, break_on_hyphens=False
            )
        lines += group
    return "\n".join(lines)
