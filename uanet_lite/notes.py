"""What a reader of labelled text leaves out or finds odd, in sentences for the user."""

import collections

_BLANK = "left out, as they are empty or blank: {} tokens"
_CUT = "{} of {marks} marks begin or end inside a word"
_OVERLAP = "left out, as they overlap another: {} marks"
_MENDED = "offsets that are read as counted otherwise ({how}): {} texts"


class Notes:
    """Counts of what was noticed, each with its first place, "FILE:LINE".

    Readers count, commands show ``lines()``.

    Attributes:
      marks: of all texts.
      format: of the file, as it was found.
      is_list: whether lines of sentences are numbers of the records of a JSON list.
    """

    def __init__(self) -> None:
        self.marks = 0
        self.format = ""
        self.is_list = False
        self._counts: collections.Counter[str] = collections.Counter()
        self._first: dict[str, str] = {}

    def count(self, what: str, place: str = "", number: int = 1) -> None:
        """Counts ``number`` times ``what``, in which "{}" stands for the count."""
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
        self.count(_MENDED.replace("{how}", how), place)

    def lines(self) -> list[str]:
        """One line for each kind of thing, none where nothing was noticed."""
        said = []
        for what, number in self._counts.items():
            text = what.replace("{}", f"{number:,}").replace("{marks}", f"{self.marks:,}")
            first = f", first at {self._first[what]}" if self._first[what] else ""
            said.append(text + first + (": off by one?" if what == _CUT else ""))
        return said
