"""Offsets of marks: how a file counts, found by the text that it keeps beside them.

Here offsets are code points of the text as it stands in the file. Others count CR LF as one
character (or a line end as two), a byte order mark or none, UTF-16 units or bytes of UTF-8.
"""

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from uanet_tf.errors import InputError

BOM = "\ufeff"
UTF16 = "UTF-16 units"
_BARE_LF = r"(?<!\r)\n"
# What tools change in the text that they keep: they trim and join blanks, and spell out line ends.
_BLANKS = re.compile(r"\s|\\n|\\r|\ufeff")
# Scripts without blanks between words: Thai, Lao, Burmese, Khmer, kana and Han characters.
_NO_BLANKS = re.compile(
    r"[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\U00020000-\U0003ffff]"
)


class Said(NamedTuple):
    """A stretch of a text as a file has it: its first character and the one after the last.

    Attributes:
      text: what the file says stands there; None: it does not say.
      place: file and line of it, where that is not the text's.
    """

    start: int
    end: int
    text: str | None = None
    place: str = ""


class Mended(NamedTuple):
    """Stretches in code points; and how the file counts, "" where that is in code points."""

    spans: list[tuple[int, int]]
    how: str = ""


def mend(text: str, stretches: Sequence[Said]) -> Mended:
    """The stretches in code points: by the one way of counting that fits all of them.

    ``stretches`` are in any order; a text beside one is compared up to blanks.

    Raises:
      InputError: no way of counting fits them all; names the first that disagrees.
    """
    known = [(stretch.start, stretch.end) for stretch in stretches]
    if _all_agree(text, known, stretches):
        return Mended(known)
    if any(stretch.text is not None for stretch in stretches):
        for how, widths, shift in _ways(text):
            spans = _converted(text, known, widths, shift)
            if spans and _all_agree(text, spans, stretches):
                return Mended(spans, how)
    wrong = next(one for one in stretches if not _agrees(text, one.start, one.end, one))
    place = f"{wrong.place}: " if wrong.place else ""
    if not 0 <= wrong.start < wrong.end <= len(text):
        raise InputError(
            f"{place}characters {wrong.start} to {wrong.end} are no part of a text of "
            f"{len(text):,} characters."
        )
    found = text[wrong.start : wrong.end]
    raise InputError(
        f"{place}characters {wrong.start} to {wrong.end} read {found!r:.80}, not "
        f"{wrong.text!r:.80}: was the text changed after it was marked?"
    )


def code_points(text: str, spans: Sequence[tuple[int, int]], counted: str | None = None) -> Mended:
    """Stretches of a tool that counts in UTF-16 units, of a file that may count in code points.

    Unless the file says that they are ``counted`` so (UTF16), they are read in UTF-16 units where
    code points would cut words, or leave the text, and UTF-16 units do not.
    """
    spans = list(spans)
    if not any(c > "\uffff" for c in text):
        return Mended(spans)
    units = _converted(text, spans, [1 + (c > "\uffff") for c in text], 0)
    if units is None:
        return Mended(spans)
    if counted == UTF16 or _cuts(text, units) < _cuts(text, spans):
        return Mended(units, "" if counted == UTF16 or units == spans else UTF16)
    return Mended(spans)


def to_utf16(text: str, offset: int) -> int:
    """A code point's place in UTF-16 units."""
    return offset + sum(c > "\uffff" for c in text[:offset])


def cuts_word(text: str, start: int, end: int) -> bool:
    """Whether a stretch begins or ends inside a word, of a script that has blanks between words."""
    return _inside_word(text, start) or _inside_word(text, end)


def _inside_word(text: str, edge: int) -> bool:
    if not 0 < edge < len(text):
        return False
    before, after = text[edge - 1], text[edge]
    if unicodedata.combining(after):
        return True
    if _NO_BLANKS.match(before) or _NO_BLANKS.match(after):
        return False
    return before.isalnum() and after.isalnum()


def _cuts(text: str, spans: Sequence[tuple[int, int]]) -> int:
    """How many stretches cut a word, begin or end with a blank, or are no part of the text."""
    return sum(
        not 0 <= start < end <= len(text)
        or cuts_word(text, start, end)
        or text[start].isspace()
        or text[end - 1].isspace()
        for start, end in spans
    )


def _all_agree(text: str, spans: Sequence[tuple[int, int]], stretches: Sequence[Said]) -> bool:
    pairs = zip(spans, stretches, strict=True)
    return all(_agrees(text, start, end, stretch) for (start, end), stretch in pairs)


def _agrees(text: str, start: int, end: int, stretch: Said) -> bool:
    if not 0 <= start < end <= len(text):
        return False
    if stretch.text is None or text[start:end] == stretch.text:
        return True
    return _BLANKS.sub("", text[start:end]) == _BLANKS.sub("", stretch.text)


def _ways(text: str) -> Iterator[tuple[str, list[int], int]]:
    """Ways of counting that differ from code points here: name, width of each character, shift."""
    units: list[tuple[str, Callable[[str], int]]] = [("", lambda character: 1)]
    if any(character > "\uffff" for character in text):
        units.append((UTF16, lambda character: 1 + (character > "\uffff")))
    if not text.isascii():
        units.append(("bytes of UTF-8", lambda character: len(character.encode())))
    # What is counted otherwise at line ends: the first character of CR LF not, or LF as two.
    ends: list[tuple[str, str, int]] = [("", "", 0)]
    if "\r\n" in text:
        ends.append(("CR LF as one character", "\r\n", 0))
    if re.search(_BARE_LF, text):
        ends.append(("line ends as two characters", _BARE_LF, 2))
    shifts = [("", 0), ("with a byte order mark", 1)]
    if text.startswith(BOM):
        shifts[1] = ("without the byte order mark", -1)
    for (shifted, shift), (end, pattern, size), (unit, width) in itertools.product(
        shifts, ends, units
    ):
        if shifted or end or unit:
            widths = list(map(width, text))
            for found in re.finditer(pattern, text) if pattern else ():
                widths[found.start()] = size
            yield ", ".join(filter(None, (unit, end, shifted))), widths, shift


def _converted(
    text: str, spans: Sequence[tuple[int, int]], widths: Sequence[int], shift: int
) -> list[tuple[int, int]] | None:
    """The spans in code points, None where an edge is within a character or outside the text."""
    places: dict[int, int] = {}
    for index, offset in enumerate(itertools.accumulate(widths, initial=shift)):
        places.setdefault(offset, index)
    found = [(places.get(start, -1), places.get(end, -1)) for start, end in spans]
    if any(not 0 <= start < end <= len(text) for start, end in found):
        return None
    return found
