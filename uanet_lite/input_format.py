"""Which format a file is in: by its name, else by its first line."""

import itertools
import re
from collections.abc import Iterator, Sequence

from uanet_lite.columns_file import CHUNK_LABEL, marks_document, split_columns
from uanet_lite.input_error import InputError
from uanet_lite.text_lines import STDIN, display_name

FORMATS = ("conll", "jsonl", "text", "tokens")
_EXTENSIONS = {
    "conll": (".conll", ".conllu", ".iob", ".bio"),
    "jsonl": (".jsonl", ".ndjson"),
    "text": (".txt", ".text"),
}
_NAMES = {
    "conll": "columns, one token per line",
    "jsonl": "JSON, one object per line",
    "text": "text, one text per line",
    "tokens": "words between blanks, one sentence per line",
}
_TAG = re.compile(r"[A-Z]{2,5}\$?|[.,:;?!]")
_JSON = re.compile(r"\s*(\{|\[\s*\{\s*\")")  # a list of objects is refused where it is read
_COMMENT = re.compile(r"#\s*(newdoc|sent_id|text\b|begin document)")
_MOST_BLANK_LINES = 1_000
_FEW_COLUMNS = 4

Lines = Iterator[tuple[int, str]]


def format_of_name(path: str) -> str | None:
    """The format by the extension of ``path``, a further .gz aside; None if it tells nothing."""
    name = path.lower().removesuffix(".gz")
    return next((kind for kind, ends in _EXTENSIONS.items() if name.endswith(ends)), None)


def format_of_look(lines: Lines) -> tuple[str, Lines]:
    """The format by the first line that is not blank, and all lines; waits for none behind it."""
    seen = []
    for number, line in itertools.islice(lines, _MOST_BLANK_LINES):
        seen.append((number, line))
        if line.strip():
            break
    first = seen[-1][1] if seen else ""
    return _format_of_line(first), itertools.chain(seen, lines)


def refuse_columns(path: str, lines: Lines, remedy: str) -> Lines:
    """The lines of a file that is text by its name, as many corpora in columns are (train.txt).

    Raises:
      InputError: the first line marks a document, or the first two end with a label of chunks; it
        says the ``remedy``.
    """
    seen, rows = [], []
    for number, line in itertools.islice(lines, _MOST_BLANK_LINES):
        seen.append((number, line))
        if line.strip():
            rows.append((number, line))
        if len(rows) == 2 or (rows and not _ends_with_label(rows[0][1])):
            break
    labelled = len(rows) == 2 and all(_ends_with_label(line) for _, line in rows)
    widths = {len(split_columns(line)) for _, line in rows}
    if rows and (marks_document(rows[0][1]) or (labelled and len(widths) == 1)):
        raise InputError(
            f"{display_name(path)}:{rows[0][0]}: looks like columns with a token a line, not "
            f"like the text that its name says: {remedy}."
        )
    return itertools.chain(seen, lines)


def _ends_with_label(line: str) -> bool:
    columns = split_columns(line)
    return len(columns) > 1 and CHUNK_LABEL.fullmatch(columns[-1]) is not None


def said_of(path: str, kind: str) -> str:
    """What the user is told about a format that was detected from the first line."""
    name = "standard input" if path == STDIN else path
    return f"{name}: read as {kind} ({_NAMES[kind]}); --format says otherwise"


def looks_like_text(rows: Sequence[str]) -> bool:
    """Whether the lines of a file's first sentence are text rather than columns."""
    fields = [split_columns(row) for row in rows]
    most = max(map(len, fields))
    if most < _FEW_COLUMNS or any("\t" in row for row in rows):
        return False
    if all(CHUNK_LABEL.fullmatch(columns[-1]) for columns in fields):
        return False
    if len(set(map(len, fields))) > 1:
        return True
    words = [word for word in fields[0] if len(word) > 1 and word.isalpha() and not word.isupper()]
    return len(rows) == 1 and 2 * len(words) > most


def _format_of_line(line: str) -> str:
    if _JSON.match(line):
        return "jsonl"
    if "\t" in line or marks_document(line) or _COMMENT.match(line):
        return "conll"
    columns = split_columns(line)
    if len(columns) == 1 or CHUNK_LABEL.fullmatch(columns[-1]):
        return "conll"
    tags = all(_TAG.fullmatch(column) for column in columns[1:])
    return "conll" if tags and len(columns) <= _FEW_COLUMNS else "text"
