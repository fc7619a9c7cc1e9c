"""CSV and TSV with a header: a token a row, its label, and the number of its sentence.

The columns are known by their names ("Sentence #", "Word", "Tag"; "sentence_id", "token", "label")
or given. A sentence ends where its number changes; a number that is empty is that of the row before
(Kaggle's files), and in a file without numbers an empty row ends it. Between tabs a quotation mark
is a character, and a pair of them around a column is not of it.
"""

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from uanet_lite.columns_file import CHUNK_LABEL, Column, Sentence
from uanet_lite.notes import Notes
from uanet_lite.sentence import MAX_TOKEN_CHARS
from uanet_tf.errors import InputError

_SENTENCE = re.compile(r"(sent(ence)?s?)([ _-]?(#|id|no|nr|num(ber)?|idx|index))?", re.IGNORECASE)
_DOCUMENT = re.compile(r"(doc(ument)?)([ _-]?(#|id|no|nr|num(ber)?|idx|index))?", re.IGNORECASE)
_TOKEN = re.compile(r"tokens?|words?|forms?|text", re.IGNORECASE)
_LABEL = re.compile(r"(ner|ne|iob|bio|entity)?[ _-]?(labels?|tags?)|ner|ne|entity", re.IGNORECASE)
_LIST = re.compile(r"\[.*,.*\]")  # of Python: a sentence a row
_QUOTED = re.compile(r'"(.+)"', re.DOTALL)
_COME_BACK = "sentence numbers that come back later, read as other sentences (shuffled rows?): {}"

Lines = Iterator[tuple[int, str]]


def matches(header: Sequence[str]) -> bool:
    """Whether a first row names columns of sentence numbers and of tokens."""
    return any(map(_SENTENCE.fullmatch, header)) and any(map(_TOKEN.fullmatch, header))


def delimiter_of(line: str) -> str:
    """The separator of a first row."""
    return max("\t,;", key=line.count)


def read(
    lines: Lines,
    name: str,
    token_column: Column = 0,
    label_column: Column | None = -1,
    *,
    skip_blank_tokens: bool = False,
    notes: Notes | None = None,
) -> Iterator[Sentence]:
    """The sentences of a table, of whose lines come (number, text).

    Args:
      token_column: index or name; 0: the column that is called like one of tokens, if there is.
      label_column: the same for the labels, -1; None: no labels are read.
      skip_blank_tokens: leave out tokens that are blank and count them; else they are refused.

    Raises:
      InputError: no such column, or a row that cannot be read; names the line.
    """
    rows = _rows(lines, name)
    line, header = next(((line, row) for line, row in rows if any(row)), (0, []))
    if not header:
        raise InputError(f"{name}: no sentence found, the file is empty.")
    if any(map(CHUNK_LABEL.fullmatch, header)):
        raise InputError(
            f"{name}:{line}: the first line must name the columns (token, label). Received: "
            f"{', '.join(header)}."
        )
    columns = _Columns(
        _index(header, token_column, _TOKEN, 0, name, "token"),
        None if label_column is None else _index(header, label_column, _LABEL, -1, name, "label"),
        _first(header, _SENTENCE),
        _first(header, _DOCUMENT),
        tuple(header),
    )
    pending: list[tuple[str, str]] = []
    begun, starts, found = 0, True, False
    ended: set[tuple[str, str]] = set()
    key = ("", "")
    for line, row in itertools.chain(rows, [(0, [])]):
        blank = not any(row)
        own = key if blank else columns.key(row, key)
        if pending and (not line or own != key or (blank and columns.sentence is None)):
            tokens, labels = zip(*pending, strict=True)
            yield Sentence(tokens, () if columns.label is None else labels, begun, starts)
            starts, found, pending = own[0] != key[0], True, []
            ended.add(key)
        key = own
        if blank:
            continue
        token, label = columns.take(row, f"{name}:{line}", skip_blank_tokens)
        if not token:
            (notes or Notes()).blank_tokens(f"{name}:{line}")
            continue
        if not pending:
            begun = line
            if columns.sentence is not None and own in ended:
                (notes or Notes()).count(_COME_BACK, f"{name}:{line}")
        pending.append((token, label))
    if not found:
        raise InputError(f"{name}: no sentence found, it has no row with a token.")


def _rows(lines: Lines, name: str) -> Iterator[tuple[int, list[str]]]:
    """(line, columns) of each row, blanks at the ends of columns aside."""
    first = next(((number, text) for number, text in lines if text.strip()), None)
    if first is None:
        return
    number = begun = 0
    delimiter = delimiter_of(first[1])
    if delimiter == "\t":
        for number, text in itertools.chain([first], lines):
            yield number, [_unquoted(part.strip()) for part in text.split("\t")]
        return

    def texts() -> Iterator[str]:
        nonlocal number, begun
        for number, text in itertools.chain([first], lines):
            begun = begun or number
            yield text + "\n"

    try:
        for row in csv.reader(texts(), delimiter=delimiter, strict=True):
            if any("\n" in part for part in row):
                raise InputError(
                    f"{name}:{begun}: a quotation mark begins a column of several lines, as no "
                    'token has: a token of it is written """".'
                )
            yield begun, [part.strip() for part in row]
            begun = 0
    except csv.Error as error:
        raise InputError(f"{name}:{begun}: {error}.") from None


def _unquoted(part: str) -> str:
    quoted = _QUOTED.fullmatch(part)
    return quoted[1].replace('""', '"') if quoted else part


class _Columns(NamedTuple):
    """Where the parts of a row stand; None: nowhere."""

    token: int
    label: int | None
    sentence: int | None
    document: int | None
    names: tuple[str, ...]

    def key(self, row: Sequence[str], before: tuple[str, str]) -> tuple[str, str]:
        """Document and sentence of a row; what is empty is that of the row before."""
        document, sentence = (
            row[column] if column is not None and column < len(row) else ""
            for column in (self.document, self.sentence)
        )
        return document or before[0], sentence or before[1]

    def take(self, row: Sequence[str], place: str, blank: bool) -> tuple[str, str]:
        """Token and label; "" for a token that is left out."""
        if len(row) <= max(self.token, self.label or 0) or any(row[len(self.names) :]):
            raise InputError(
                f"{place}: {len(row)} columns, where the first line names {len(self.names)}."
            )
        token, label = row[self.token], "" if self.label is None else row[self.label]
        if not token and blank:
            return "", ""
        if not token:
            raise InputError(
                f"{place}: the token is empty (or blank): `skip_blank_tokens` leaves such tokens "
                "out and counts them."
            )
        if self.label is not None and not label:
            raise InputError(f"{place}: the label is empty.")
        if _LIST.fullmatch(label):
            raise InputError(f"{place}: a row must hold one token. Received the list {label:.60}")
        if max(len(token), len(label)) > MAX_TOKEN_CHARS:
            raise InputError(
                f"{place}: a token or label of more than {MAX_TOKEN_CHARS:,} characters."
            )
        return token, label


def _first(header: Sequence[str], names: re.Pattern[str]) -> int | None:
    return next((k for k, name in enumerate(header) if names.fullmatch(name)), None)


def _index(
    header: Sequence[str], given: Column, names: re.Pattern[str], default: int, file: str, what: str
) -> int:
    if isinstance(given, str):
        found = [k for k, name in enumerate(header) if name.lower() == given.lower()]
        if len(found) != 1:
            raise InputError(
                f"{file}: no column for the {what} is called {given!r}: its columns are "
                f"{', '.join(header)}."
            )
        return found[0]
    if given == default:
        known = [k for k, name in enumerate(header) if names.fullmatch(name)]
        if len(known) == 1:
            return known[0]
        raise InputError(
            f"{file}: {'more than one' if known else 'no'} column is called as one of {what}s is: "
            f"its columns are {', '.join(header)}; `{what}_column=NAME` says which it is."
        )
    index = given if given >= 0 else len(header) + given
    if not 0 <= index < len(header):
        raise InputError(
            f"{file}: there is no column {given}: its columns are {', '.join(header)}."
        )
    return index
