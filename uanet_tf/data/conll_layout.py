"""What kind of CoNLL file is it, and which of its lines are not tokens?

Three layouts are told apart by the first row of the file (the first line that is neither blank nor
starts with `#` nor marks a document):

* `conllu`: 10 tab-separated columns, the first a word number that starts a sentence, the seventh a
  head. Only here every line that starts with `#` is a comment (a row starts with a digit), and
  rows numbered `1-2` (multi-word ranges) or `1.1` (empty nodes) are not tokens.
* `tab`: rows with tabs. A comment is `# something` without any tab, before the first token of a
  sentence; it cannot be a row. `#<TAB>O` and `#hashtag<TAB>O` are tokens. Where the first row
  starts with the number 1, as in GermEval's files, a `#` in place of the number starts a comment,
  if the line has another number of columns.
* `blank`: rows without tabs. `# O` and `#hashtag O` are tokens. A comment is `# ` and at least two
  more words, before the first token of a sentence, with another number of columns than the first
  row.

`#begin document (...)` and `#end document` of CoNLL-2012 are document marks in each layout.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator

_BLANKS = re.compile(r"[ \t]+")
_WORD_NUMBER = re.compile(r"[0-9]+")
_FIRST_WORD_NUMBER = re.compile(r"1|1-[0-9]+|0\.1")
_NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
_DOCUMENT_2012 = re.compile(r"#begin document \(.*\)(; part [0-9]+)?|#end document")
_NEW_DOCUMENT_CONLLU = re.compile(r"#\s*newdoc\b")
_COMMENT = re.compile(r"#[ ]+[^ \t]")
_CONLLU_COLUMNS = 10
_CONLLU_HEAD = 6
# A header of comments is far shorter; without a limit a file of `#` lines would fill the memory.
_MAX_PEEKED_LINES = 10_000


def split_columns(line: str) -> list[str]:
    """Columns of a row: split at tabs if there is one, else at runs of ASCII spaces.

    U+00A0 (no-break space), U+3000 and other Unicode spaces belong to the token: corpora hold them
    inside tokens ("10 000"), and no format uses them between columns.
    """
    if "\t" in line:
        return [column.strip(" ") for column in line.split("\t")]
    return _BLANKS.split(line.strip(" "))


def is_blank(line: str) -> bool:
    """Whether the line holds nothing but ASCII spaces and tabs."""
    return not line.strip(" \t")


def marks_document(line: str) -> bool:
    """Whether a new document starts at this line (`-DOCSTART-`, CoNLL-2012 marks)."""
    if line.startswith("-DOCSTART-"):
        return _BLANKS.split(line, maxsplit=1)[0] == "-DOCSTART-"
    return line.startswith("#") and _DOCUMENT_2012.fullmatch(line.rstrip(" ")) is not None


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """The layout of one file.

    Attributes:
      kind: conllu, tab or blank.
      columns: number of columns of its first row.
      numbered: whether this row, with tabs and at least three columns, starts with the number 1.
    """

    kind: str
    columns: int
    numbered: bool = False

    def is_comment(self, line: str, *, inside_sentence: bool) -> bool:
        """Whether a line that starts with `#` is a comment; see the rules of this module."""
        if self.kind == "conllu":
            return True
        if inside_sentence:
            return False
        if self.numbered and line.startswith("#\t"):
            return len(split_columns(line)) != self.columns
        if not _COMMENT.match(line):
            return False
        if self.kind == "tab":
            return "\t" not in line
        return len(_BLANKS.split(line.strip(" "))) > 2 and len(split_columns(line)) != self.columns

    def marks_document(self, line: str) -> bool:
        """Whether a new document starts at this line, in this layout."""
        if self.kind == "conllu" and _NEW_DOCUMENT_CONLLU.match(line):
            return True
        return marks_document(line)

    def is_token(self, columns: list[str]) -> bool:
        """False for the rows of CoNLL-U that are not words."""
        return self.kind != "conllu" or not _NOT_A_WORD.fullmatch(columns[0])


def detect_layout(
    lines: Iterator[tuple[int, str]],
) -> tuple[Layout, Iterator[tuple[int, str]]]:
    """Finds the layout from the first row; returns it and all lines, those read included."""
    peeked = []
    layout = None
    for number, line in itertools.islice(lines, _MAX_PEEKED_LINES):
        peeked.append((number, line))
        if not is_blank(line) and not line.startswith("#") and not marks_document(line):
            layout = _layout_of_row(line)
            break
    if layout is None:
        # Nothing but `#` lines: they are rows, unless each of them lacks the tab of the others.
        tabbed = [line for _, line in peeked if line.startswith("#") and "\t" in line]
        rows = tabbed or [line for _, line in peeked if line.startswith("#")] or [""]
        layout = Layout("tab" if tabbed else "blank", len(split_columns(rows[0])))
    return layout, itertools.chain(peeked, lines)


def _layout_of_row(line: str) -> Layout:
    columns = split_columns(line)
    if "\t" not in line:
        return Layout("blank", len(columns))
    conllu = (
        len(columns) == _CONLLU_COLUMNS
        and _FIRST_WORD_NUMBER.fullmatch(columns[0]) is not None
        and (
            columns[_CONLLU_HEAD] == "_"
            or _WORD_NUMBER.fullmatch(columns[_CONLLU_HEAD]) is not None
        )
    )
    if conllu:
        return Layout("conllu", len(columns))
    return Layout("tab", len(columns), numbered=columns[0] == "1" and len(columns) > 2)
