"""Draws coloured terminal text as an SVG, for README.md.

Reads the text from standard input and writes the picture to standard output; the argument is
its title. FORCE_COLOR=1 makes ``uanet tag`` write colours into a pipe.
"""

import io
import re
import sys

from rich.console import Console
from rich.text import Text

MARGIN = 2


def draw(text: str, title: str) -> str:
    """The text, with its ANSI colours, as an SVG document."""
    lines = Text.from_ansi(text.rstrip("\n"))
    width = max(line.cell_len for line in lines.split("\n")) + MARGIN
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(lines, soft_wrap=True)
    picture = console.export_svg(title=title)
    # A picture in a README cannot load fonts; the ones named after these are on every machine.
    return re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)


if __name__ == "__main__":
    sys.stdout.write(draw(sys.stdin.read(), sys.argv[1]))
