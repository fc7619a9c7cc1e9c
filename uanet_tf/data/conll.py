"""Reading CoNLL-style files: one token per line, columns, a blank line after each sentence."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator

from uanet_tf.data.conll_layout import Layout, detect_layout, is_blank, split_columns
from uanet_tf.data.text_lines import display_name, read_lines
from uanet_tf.errors import InputError


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a file.

    Attributes:
        tokens: its words, at least one.
        labels: one for each token; empty when no label column was read.
        line: 1-based line of its first token.
        new_document: whether a document starts here: at the first sentence of a file and after
            each document mark.
        rows: the raw line of each token, without line end; empty unless asked for.
        docstart: whether a `-DOCSTART-` line precedes it.
        uneven_line: line of its first row with another number of columns than its first row has,
            where a column is counted from the end and may so be another than was meant; else 0.
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    line: int
    new_document: bool
    rows: tuple[str, ...] = ()
    docstart: bool = False
    uneven_line: int = 0


def read_sentences(
    path: str | os.PathLike[str],
    *,
    token_column: int = 0,
    label_column: int | None = -1,
    max_sentence_tokens: int = 50_000,
    max_token_chars: int = 1_000,
    keep_rows: bool = False,
    lines: Iterator[tuple[int, str]] | None = None,
) -> Iterator[Sentence]:
    """Streams the sentences of a file, in constant memory.

    Columns are separated by tabs if the line has one, else by ASCII spaces. Lines end in LF or
    CRLF; the text is UTF-8 with or without byte order mark; gzip is unpacked. `-DOCSTART-` lines
    start a document and are no sentences. `conll_layout` defines which lines are comments, and what
    is skipped in CoNLL-U.

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
    max_token_chars: int = 1_000,
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
