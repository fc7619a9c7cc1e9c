"""Reading columns (CoNLL): one token per line, a blank line after each sentence.

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
import os
import re
from collections.abc import Iterator

from uanet_lite.input_error import InputError
from uanet_lite.sentence import MAX_TOKEN_CHARS, Sentence
from uanet_lite.text_lines import display_name, read_lines

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


def read_sentences(
    path: str | os.PathLike[str],
    *,
    token_column: int = 0,
    label_column: int | None = -1,
    max_sentence_tokens: int = 50_000,
    max_token_chars: int = MAX_TOKEN_CHARS,
    keep_rows: bool = False,
    lines: Iterator[tuple[int, str]] | None = None,
) -> Iterator[Sentence]:
    """Streams the sentences of a file, in constant memory.

    Columns are separated by tabs if the line has one, else by ASCII spaces. Lines end in LF or
    CRLF; the text is UTF-8 with or without byte order mark; gzip is unpacked. `-DOCSTART-` lines
    start a document and are no sentences. The rules of this module define which lines are comments,
    and what is skipped in CoNLL-U.

    Args:
        path: a file, or "-" for standard input.
        token_column: index of the column with the tokens; negative counts from the end.
        label_column: the same for the labels; None reads no labels.
        max_sentence_tokens: more tokens than this without a blank line are refused.
        max_token_chars: a longer token or label is refused.
        keep_rows: also keep the raw line of each token.
        lines: (number, text) of the lines of `path`, where it has been opened already.

    Yields:
        `Sentence`, in the order of the file.

    Raises:
        InputError: bad arguments (at once); or (while reading) a file that is missing, a
            directory, damaged, not UTF-8 or without any sentence; a row with too few columns, with
            an empty token or label, or beyond a limit.
    """
    if token_column == label_column:
        raise InputError(
            f"token_column and label_column must differ. Received: {token_column} for both."
        )
    for name, limit in (
        ("max_sentence_tokens", max_sentence_tokens),
        ("max_token_chars", max_token_chars),
    ):
        if limit < 1:
            raise InputError(f"{name} must be at least 1. Received: {limit}.")
    columns = _Columns(display_name(path), token_column, label_column, max_token_chars)
    lines = read_lines(path) if lines is None else lines
    return _stream(lines, columns, max_sentence_tokens, keep_rows)


def read_corpus(
    path: str | os.PathLike[str],
    *,
    token_column: int = 0,
    label_column: int | None = -1,
    max_sentence_tokens: int = 50_000,
    max_token_chars: int = MAX_TOKEN_CHARS,
    keep_rows: bool = False,
) -> list[Sentence]:
    """All sentences of a file at once; see `read_sentences`."""
    return list(
        read_sentences(
            path,
            token_column=token_column,
            label_column=label_column,
            max_sentence_tokens=max_sentence_tokens,
            max_token_chars=max_token_chars,
            keep_rows=keep_rows,
        )
    )


@dataclasses.dataclass(frozen=True, slots=True)
class _Columns:
    """Takes token and label out of the columns of a row."""

    file: str
    token: int
    label: int | None
    max_chars: int

    def take(self, columns: list[str], number: int) -> tuple[str, str]:
        """The token and its label ("" when no labels are read) of line `number`."""
        token_index = self._index(self.token, len(columns))
        if self.label is None:
            if token_index is None:
                raise self._too_few(columns, number)
            return self._checked("token", columns[token_index], number), ""
        label_index = self._index(self.label, len(columns))
        if token_index is None or label_index is None or token_index == label_index:
            raise self._too_few(columns, number)
        return (
            self._checked("token", columns[token_index], number),
            self._checked("label", columns[label_index], number),
        )

    @property
    def count_from_end(self) -> bool:
        """Whether a row with one column more gives another one as token or label."""
        return self.token < 0 or (self.label is not None and self.label < 0)

    @staticmethod
    def _index(column: int, count: int) -> int | None:
        index = column if column >= 0 else count + column
        return index if 0 <= index < count else None

    def _too_few(self, columns: list[str], number: int) -> InputError:
        found = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        wanted = f"token column {self.token}"
        if self.label is not None:
            wanted += f" and label column {self.label}"
        hint = ""
        if len(columns) == 1 and re.search("[,;]", columns[0][:-1]):  # a CSV file
            hint = " Columns are separated by tabs or blanks."
        return InputError(
            f"{self.file}:{number}: too few columns: found {found} ({_shown(columns[0])} first), "
            f"which does not hold {wanted}.{hint}"
        )

    def _checked(self, what: str, text: str, number: int) -> str:
        if not text:
            raise InputError(f"{self.file}:{number}: the {what} is empty.")
        if len(text) > self.max_chars:
            raise InputError(
                f"{self.file}:{number}: a {what} of {len(text):,} characters ({_shown(text)}); "
                f"the limit is {self.max_chars:,}."
            )
        return text

    def refuse_word_numbers(self, layout: Layout) -> None:
        """CoNLL-U rows start with a word number, which would silently be trained on as tokens."""
        if layout.kind == "conllu" and self._index(self.token, layout.columns) == 0:
            raise InputError(
                f"{self.file}: a CoNLL-U file, whose column 0 holds word numbers; the words are "
                f"in column 1. Received: token column {self.token}."
            )

    def refuse_counts(self, sentence: Sentence) -> None:
        """The same of other files: a first sentence of 1, 2, 3, ... is none of words."""
        counted = tuple(map(str, range(1, len(sentence.tokens) + 1)))
        if len(counted) > 2 and sentence.tokens == counted:
            raise InputError(
                f"{self.file}:{sentence.line}: column 0 counts the words of each sentence (1, 2, "
                f"3, ...); the words are probably in column 1. Received: token column {self.token}."
            )


@dataclasses.dataclass(slots=True)
class _Pending:
    """The sentence being read, and the lines that preceded it."""

    tokens: list[str] = dataclasses.field(default_factory=list)
    labels: list[str] = dataclasses.field(default_factory=list)
    rows: list[str] = dataclasses.field(default_factory=list)
    line: int = 0
    new_document: bool = False
    docstart: bool = False
    columns: int = 0
    uneven_line: int = 0

    def finish(self) -> Sentence:
        return Sentence(
            tuple(self.tokens),
            tuple(self.labels),
            self.line,
            self.new_document,
            tuple(self.rows),
            self.docstart,
            self.uneven_line,
        )


def _stream(
    lines: Iterator[tuple[int, str]], columns: _Columns, max_tokens: int, keep_rows: bool
) -> Iterator[Sentence]:
    layout, lines = detect_layout(lines)
    columns.refuse_word_numbers(layout)
    pending = _Pending(new_document=True)
    found_any, number = False, 0

    def finished() -> Sentence:
        sentence = pending.finish()
        if layout.numbered and not found_any:
            columns.refuse_counts(sentence)
        return sentence

    for number, line in lines:
        mark = line.startswith(("-", "#")) and layout.marks_document(line)
        if mark or is_blank(line):
            if pending.tokens:
                yield finished()
                pending, found_any = _Pending(), True
            if mark:
                pending.new_document = True
                pending.docstart = pending.docstart or line.startswith("-")
            continue
        if line.startswith("#") and layout.is_comment(line, inside_sentence=bool(pending.tokens)):
            continue
        fields = split_columns(line)
        if not layout.is_token(fields):
            continue
        token, label = columns.take(fields, number)
        if not pending.tokens:
            pending.line, pending.columns = number, len(fields)
        elif len(pending.tokens) == max_tokens:
            raise InputError(
                f"{columns.file}:{number}: more than {max_tokens:,} tokens without a blank line "
                f"(the sentence starts at line {pending.line})."
            )
        if len(fields) != pending.columns and columns.count_from_end and not pending.uneven_line:
            pending.uneven_line = number
        pending.tokens.append(token)
        if label:
            pending.labels.append(label)
        if keep_rows:
            pending.rows.append(line)
    if pending.tokens:
        yield finished()
    elif not found_any:
        reason = "it has no line with a token" if number else "the file is empty"
        raise InputError(f"{columns.file}: no sentence found, {reason}.")


def _shown(text: str, limit: int = 30) -> str:
    """A text as quoted in messages: escaped and not longer than `limit`."""
    return repr(text if len(text) <= limit else text[:limit] + "...")
