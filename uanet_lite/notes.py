"""What a reader of labelled text leaves out or finds odd, in sentences for the user."""

import collections

_BLANK = "tokens that are empty or blank are left out"
_CUT = "begin or end inside a word"
_OVERLAP = "marks are left out, as they overlap another"
_MENDED = "texts have offsets that are read as counted otherwise"


class Notes:
    """Counts of what was noticed, each with its first place, "FILE:LINE".

    Readers count, commands show ``lines()``.
    """

    def __init__(self) -> None:
        self.marks = 0
        self._counts: collections.Counter[str] = collections.Counter()
        self._first: dict[str, str] = {}

    def count(self, what: str, place: str = "", number: int = 1) -> None:
        """Counts ``number`` times ``what``: the rest of a sentence that begins with the count."""
        if number:
            self._counts[what] += number
            self._first.setdefault(what, place)

    def blank_tokens(self, place: str, number: int = 1) -> None:
        """Tokens of white space or nothing that were left out."""
        self.count(_BLANK, place, number)

    def cut_word(self, place: str) -> None:
        """A mark that begins or ends inside a word."""
        self.count(_CUT, place)

    def overlap(self, place: str) -> None:
        """A mark that was left out, since it overlaps another."""
        self.count(_OVERLAP, place)

    def mended(self, how: str, place: str) -> None:
        """Offsets of a text that were read by another way of counting: ``how``."""
        self.count(f"{_MENDED}: {how}", place)

    def lines(self) -> list[str]:
        """One line for each kind of thing, none where nothing was noticed."""
        said = []
        for what, number in self._counts.items():
            first = self._first[what]
            if what == _CUT:
                said.append(
                    f"{number:,} of {self.marks:,} marks begin or end inside a word, first at "
                    f"{first}: off by one?"
                )
            else:
                said.append(f"{number:,} {what}" + (f", first at {first}" if first else ""))
        return said
