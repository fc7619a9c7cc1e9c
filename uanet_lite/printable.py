"""Untrusted text on a terminal or page: control characters are shown and not obeyed."""

import unicodedata

# Marks that change the direction of writing, which can make a text look like another one.
_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Of them, those that have no end, and so turn nothing but themselves.
LETTER_MARKS = "\u200e\u200f\u061c"
_ACTING = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of pairs, line and paragraph ends


def printable(text: str, *, keep: str = "") -> str:
    r"""The text with everything escaped that a terminal would obey: ``\x1b[31m`` for a colour.

    Letters, blanks and emoji of any script stay, and the characters of ``keep``, as line ends.
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii") if char not in keep and _acts(char) else char
        for char in text
    )


def _acts(character: str) -> bool:
    return character in _TURNING or unicodedata.category(character) in _ACTING
