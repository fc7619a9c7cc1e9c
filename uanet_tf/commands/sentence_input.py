"""Sentences to be tagged, from CoNLL, JSON lines or plain text, one at a time."""

import dataclasses
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from uanet_tf.data.conll import read_sentences
from uanet_tf.data.text_lines import display_name, read_lines
from uanet_tf.errors import InputError

FORMATS = ("conll", "jsonl", "text")
MAX_TOKEN_CHARS = 1_000
_EXTENSIONS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "text", ".text": "text"}

_JOINERS = "\u200c\u200d"
# What stands for combining marks and for joiners, which `re` does not know: rare letters.
_MARK, _JOINER = "\U000103a0", "\U000103a1"
_WORD = re.compile(
    r"\w+(?:(?:['’.-]|(?<=\d)[,:](?=\d))\w+)*"
    r"|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    rf"|[^\w\s](?:{_JOINER}[^\w\s]|[{_MARK}{_JOINER}\U0001f3fb-\U0001f3ff])*"  # colours of skin
)


@dataclasses.dataclass(frozen=True, slots=True)
class InputSentence:
    """One sentence and what its output must repeat.

    Attributes:
      tokens: its words, at least one.
      line: 1-based line of its first token.
      rows: CoNLL: the raw line of each token.
      fields: JSON lines: the whole object; text: the line under "text".
      new_document: whether a document starts here; each line of JSON or text is one.
      docstart: CoNLL: whether a -DOCSTART- line stands before it.
    """

    tokens: list[str]
    line: int
    rows: tuple[str, ...] = ()
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    new_document: bool = True
    docstart: bool = False


def guess_format(path: str) -> str:
    """The format by the extension of ``path``, a further .gz aside; "conll" if it tells nothing."""
    name = path.lower().removesuffix(".gz")
    for extension, kind in _EXTENSIONS.items():
        if name.endswith(extension):
            return kind
    return "conll"


def read_input(path: str, kind: str, token_column: int) -> Iterator[InputSentence]:
    """Streams the sentences of a file.

    Args:
      path: a file, may be gzipped; "-" is standard input.
      kind: one of FORMATS.
      token_column: column of the token, for "conll".

    Raises:
      InputError: naming file and line: a line that cannot be read, or no sentence at all.
    """
    if kind == "conll":
        yield from _read_conll(path, token_column)
        return
    read_line = _read_json_line if kind == "jsonl" else _read_text_line
    found_any = False
    for number, line in read_lines(path):
        if line.strip():
            yield read_line(line, number, f"{display_name(path)}:{number}")
            found_any = True
    if not found_any:
        raise InputError(f"{display_name(path)}: no sentence found, the file is empty.")


def tokenize(text: str) -> list[str]:
    """Splits plain text into words and punctuation marks.

    A token is a run of letters, digits and underscores, joined over one apostrophe, hyphen
    or full stop ("don't", "e-mail", "U.S"), between digits also over one comma or colon
    ("1,000.50", "10:30"); or one other character that is no blank, with the marks and joined
    characters of an emoji. It knows no language: text tokenised the way of the training data is
    better given as CoNLL or JSON lines.
    """
    if text.isascii():
        return _WORD.findall(text)
    # Combining marks and joiners belong to the letters they stand with.
    shadow = "".join(map(_shadow, text))
    return [text[match.start() : match.end()] for match in _WORD.finditer(shadow)]


def _shadow(character: str) -> str:
    if character in _JOINERS:
        return _JOINER
    return _MARK if unicodedata.category(character)[0] == "M" else character


def _read_conll(path: str, token_column: int) -> Iterator[InputSentence]:
    for sentence in read_sentences(
        path, token_column=token_column, label_column=None, keep_rows=True
    ):
        yield InputSentence(
            list(sentence.tokens),
            sentence.line,
            rows=sentence.rows,
            new_document=sentence.new_document,
            docstart=sentence.docstart,
        )


def _read_text_line(line: str, number: int, place: str) -> InputSentence:
    tokens = tokenize(line)
    _check_tokens(tokens, place)
    return InputSentence(tokens, number, fields={"text": line})


def _read_json_line(line: str, number: int, place: str) -> InputSentence:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON ({_reason(error)}).") from None
    if not isinstance(fields, dict) or "tokens" not in fields:
        raise InputError(f'{place}: not an object with the key "tokens": {line[:40]!r}')
    tokens = fields["tokens"]
    if not isinstance(tokens, list):
        raise InputError(f'{place}: "tokens" must be a list of strings. Received: {tokens!r:.60}')
    _check_tokens(tokens, place)
    return InputSentence(tokens, number, fields=fields)


def _check_tokens(tokens: list[Any], place: str) -> None:
    if not tokens:
        raise InputError(f"{place}: the sentence is empty, it needs at least one word.")
    for position, token in enumerate(tokens):
        if not isinstance(token, str) or not token:
            raise InputError(
                f"{place}: token {position} must be a string that is not empty. "
                f"Received: {token!r:.60}"
            )
        if len(token) > MAX_TOKEN_CHARS:
            raise InputError(
                f"{place}: a token of {len(token):,} characters ({token[:30]!r}...); "
                f"the limit is {MAX_TOKEN_CHARS:,}."
            )
        if not token.isascii() and any("\ud800" <= character <= "\udfff" for character in token):
            raise InputError(f"{place}: token {position} is not valid Unicode: {token!r:.60}")


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
