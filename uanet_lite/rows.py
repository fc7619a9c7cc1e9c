"""Reading text, JSON lines and CoNLL files, one sentence at a time."""

import dataclasses
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from uanet_lite.input_error import InputError
from uanet_lite.sentences import Sentence, read_sentence
from uanet_lite.tokenizer import Tokenizer

FORMATS = ("text", "jsonl", "conll")
STDIN = "-"
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".conll": "conll", ".conllu": "conll"}
_MAX_LINE_BYTES = 1 << 20
_MAX_SENTENCE_TOKENS = 50_000
_BLANKS = re.compile(r"[ \t]+")
_NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
_CONLLU_COLUMNS = 10
_MOST_PEEKED = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One sentence of a file, and the input that its answer repeats.

    Attributes:
      sentence: a text or a list of words.
      line: 1-based line of the file where it starts.
      lines: CoNLL: the line of each token.
      fields: JSON lines: the whole object.
      error: why it cannot be tagged; None if it can.
    """

    sentence: Sentence
    line: int
    lines: tuple[str, ...] = ()
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    error: str | None = None


def guess_format(path: str) -> str:
    """The format by the file's ending; "text" if it is unknown."""
    return next((kind for end, kind in _ENDINGS.items() if path.lower().endswith(end)), "text")


def read_rows(path: str, kind: str, token_column: int, tokenizer: Tokenizer) -> Iterator[Row]:
    """Streams the sentences of a file in constant memory.

    text: each line is a sentence, an empty one too. jsonl: each line is an object with a text
    under "text" or words under "tokens"; an empty one is a sentence without words.
    conll: one word per line, in a column; an empty line after each sentence; columns are separated
    by tabs, else by blanks; ``-DOCSTART-`` lines, and what is no word in CoNLL-U, are passed over.

    Args:
      path: a file; "-" is standard input.
      kind: one of FORMATS.
      token_column: "conll": column of the words; negative counts from the end.
      tokenizer: of the model, for checks.

    Yields:
      A Row per sentence; a line of text or JSON that cannot be tagged has ``error``.

    Raises:
      InputError: names file and line: what cannot be read at all.
    """
    name = "<stdin>" if path == STDIN else path
    with _open(path) as stream:
        lines = _lines(stream, name)
        if kind == "conll":
            yield from _conll_rows(lines, name, token_column)
            return
        for number, line in lines:
            yield _row(line, number, kind, tokenizer)


def _open(path: str) -> BinaryIO:
    if path == STDIN:
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    number = 0
    while raw := stream.readline(_MAX_LINE_BYTES + 1):
        number += 1
        if len(raw) > _MAX_LINE_BYTES:
            raise InputError(f"{name}:{number}: the line is longer than {_MAX_LINE_BYTES:,} bytes.")
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}:{number}: not UTF-8 (byte {error.start + 1}).") from None
        yield number, line.removesuffix("\n").removesuffix("\r")


def _row(line: str, number: int, kind: str, tokenizer: Tokenizer) -> Row:
    """A line of text or JSON, which is checked here."""
    fields: dict[str, Any] = {}
    sentence: Any = line
    try:
        if kind == "jsonl":
            fields = _json_object(line) if line.strip() else {"text": ""}
            sentence = _json_sentence(fields)
        read_sentence(sentence, f"line {number}", tokenizer)
    except InputError as error:
        return Row("", number, fields=fields, error=str(error))
    return Row(sentence, number, fields=fields)


def _json_object(line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise InputError(f"not JSON ({reason}).") from None
    if not isinstance(fields, dict):
        raise InputError(f"not an object: {line[:40]!r}")
    return fields


def _json_sentence(fields: dict[str, Any]) -> Any:
    if "tokens" in fields:
        if not isinstance(fields["tokens"], list):
            raise InputError(f'"tokens" must be a list. Received: {fields["tokens"]!r:.60}')
        return fields["tokens"]
    if not isinstance(fields.get("text"), str):
        raise InputError('no "text" and no "tokens".')
    return fields["text"]


def _conll_rows(lines: Iterable[tuple[int, str]], name: str, column: int) -> Iterator[Row]:
    tokens: list[str] = []
    kept: list[str] = []
    first = 0
    width, lines = _first_width(lines)
    for number, line in lines:
        if not line.strip(" \t") or _is_mark(line):
            if tokens:
                yield Row(tokens, first, tuple(kept))
                tokens, kept = [], []
            continue
        columns = _columns(line)
        if _is_comment(line, width, bool(tokens)) or _is_no_word(columns):
            continue
        if not -len(columns) <= column < len(columns):
            raise InputError(f"{name}:{number}: {len(columns)} columns, none of them is {column}.")
        read_sentence([columns[column]], f"{name}:{number}", Tokenizer())
        if len(tokens) == _MAX_SENTENCE_TOKENS:
            raise InputError(f"{name}:{number}: {len(tokens):,} words without an empty line.")
        first = first if tokens else number
        tokens.append(columns[column])
        kept.append(line)
    if tokens:
        yield Row(tokens, first, tuple(kept))


def _columns(line: str) -> list[str]:
    # Other blanks of Unicode belong to the word.
    if "\t" in line:
        return [column.strip(" ") for column in line.split("\t")]
    return _BLANKS.split(line.strip(" "))


def _is_mark(line: str) -> bool:
    return line.startswith(("-DOCSTART-", "#begin document ", "#end document"))


def _first_width(lines: Iterable[tuple[int, str]]) -> tuple[int, Iterator[tuple[int, str]]]:
    """Columns of the first row that does not start with #, 0 where tabs separate; all lines."""
    lines, peeked, width = iter(lines), [], 1
    for number, line in itertools.islice(lines, _MOST_PEEKED):
        peeked.append((number, line))
        if line.strip(" \t") and not line.startswith("#") and not _is_mark(line):
            width = 0 if "\t" in line else len(_columns(line))
            break
    return width, itertools.chain(peeked, lines)


def _is_comment(line: str, width: int, inside: bool) -> bool:
    """``# text`` before a sentence; ``# O`` is a word where blanks separate the columns."""
    if inside or not line.startswith("#"):
        return False
    if not width:
        return "\t" not in line
    return line.startswith("# ") and 2 < len(_columns(line)) != width


def _is_no_word(columns: list[str]) -> bool:
    """The ranges and empty nodes of CoNLL-U."""
    return len(columns) == _CONLLU_COLUMNS and _NOT_A_WORD.fullmatch(columns[0]) is not None
