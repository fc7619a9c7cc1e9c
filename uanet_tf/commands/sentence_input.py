"""Rows to be tagged, from CoNLL, JSON lines or plain text, one at a time."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from uanet_lite.tokenizer import Tokenizer
from uanet_tf.data.columns_file import read_sentences
from uanet_tf.data.input_format import looks_like_text
from uanet_tf.errors import InputError
from uanet_tf.files.text_lines import STDIN, display_name
from uanet_tf.text.raw_text import LANGUAGE, text_sentences

MAX_TOKEN_CHARS = 1_000
tokenize = Tokenizer().tokenize

Lines = Iterator[tuple[int, str]]


@dataclasses.dataclass(frozen=True, slots=True)
class InputSentence:
    """A sentence of a row.

    Attributes:
      tokens: its words, at least one.
      new_document: whether a document starts here; each row of JSON or text is one.
      starts, ends: offsets of the tokens in the row's text; None without a text.
    """

    tokens: list[str]
    new_document: bool = True
    starts: list[int] | None = None
    ends: list[int] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class InputRow:
    """A unit of input that gets one answer: a CoNLL sentence, a JSON object, or a line of text.

    Attributes:
      line: 1-based line of its beginning.
      sentences: none where it has no words, or text that is not cut yet.
      columns: CoNLL: the raw line of each token.
      fields: JSON lines: the whole object.
      text: the raw text, if that is what was given.
      docstart: CoNLL: whether a -DOCSTART- line precedes it.
      error: why it cannot be tagged.
    """

    line: int
    sentences: tuple[InputSentence, ...] = ()
    columns: tuple[str, ...] = ()
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    text: str | None = None
    docstart: bool = False
    error: str | None = None

    def cut(
        self, tokenizer: Tokenizer, *, split: bool, language: str = LANGUAGE, file: str = STDIN
    ) -> "InputRow":
        """The row with the sentences of its text, if it has one that is not cut yet.

        Of JSON, a row of a token that cannot be tagged has an error.

        Raises:
          InputError: of lines of text, such a token: it is too long, or no Unicode; names
            ``file`` and line.
        """
        if self.text is None or self.sentences or self.error is not None:
            return self
        found = text_sentences(self.text, tokenizer, split=split, language=language)
        try:
            for sentence in found:
                _check_tokens(sentence.tokens)
        except InputError as error:
            if self.fields:
                return dataclasses.replace(self, error=str(error))
            raise InputError(f"{display_name(file)}:{self.line}: {error}") from None
        sentences = tuple(
            InputSentence(each.tokens, each.new_document, each.starts, each.ends) for each in found
        )
        return dataclasses.replace(self, sentences=sentences)


def read_rows(path: str, kind: str, lines: Lines, token_column: int) -> Iterator[InputRow]:
    """Streams the rows of a file.

    A line that is not JSON, or has no words, is a row with an error.

    Args:
      path: the file, for messages.
      kind: one of ``input_format.FORMATS``.
      lines: (number, text) of its lines.
      token_column: column of the token, for "conll".

    Raises:
      InputError: naming file and line: a line that cannot be read; text in place of columns; no
        line at all.
    """
    if kind == "conll":
        yield from _read_conll(path, lines, token_column)
        return
    read_line = _read_json_line if kind == "jsonl" else _read_text_line
    number = 0
    for number, line in lines:
        yield read_line(number, line)
    if not number:
        raise InputError(f"{display_name(path)}: no sentence found, the file is empty.")


def _read_conll(path: str, lines: Lines, token_column: int) -> Iterator[InputRow]:
    sentences = read_sentences(
        path, token_column=token_column, label_column=None, keep_rows=True, lines=lines
    )
    for number, sentence in enumerate(sentences):
        if not number and looks_like_text(sentence.rows):
            raise InputError(
                f"{display_name(path)}:{sentence.line}: looks like text, not like columns with a "
                "token a line: name --format=text."
            )
        yield InputRow(
            sentence.line,
            (InputSentence(list(sentence.tokens), sentence.new_document),),
            columns=sentence.rows,
            docstart=sentence.docstart,
        )


def _read_text_line(number: int, line: str) -> InputRow:
    return InputRow(number, text=line)


def _read_json_line(number: int, line: str) -> InputRow:
    """A row of {"tokens": [...]} or {"text": "..."}, further keys allowed; or of an error."""
    if not line.strip():
        return InputRow(number)
    fields: Any = {}
    try:
        fields = json.loads(line)
        return _row_of(fields, number)
    except InputError as error:
        message = str(error)
    except (ValueError, RecursionError) as error:
        message = f"not JSON ({_reason(error)})"
    return InputRow(number, fields=fields if isinstance(fields, dict) else {}, error=message)


def _row_of(fields: Any, number: int) -> InputRow:
    if isinstance(fields, list):
        raise InputError("a list, not an object: write one object per line (jq -c '.[]' FILE)")
    if not isinstance(fields, dict) or not ("tokens" in fields or "text" in fields):
        raise InputError('not an object with the key "tokens" or "text"')
    text = fields.get("text")
    if text is not None and not isinstance(text, str):
        raise InputError(f'"text" must be a string. Received: {text!r:.60}')
    if text is not None and not text.isascii():
        _check_unicode(text, '"text"')
    if "tokens" not in fields:
        return InputRow(number, fields=fields, text=text)
    tokens = fields["tokens"]
    if not isinstance(tokens, list):
        raise InputError(f'"tokens" must be a list of strings. Received: {tokens!r:.60}')
    _check_tokens(tokens)
    if not tokens:
        return InputRow(number, fields=fields)
    starts = None if text is None else _starts_in(text, tokens)
    if text is None or starts is None:
        return InputRow(number, (InputSentence(tokens),), fields=fields)
    ends = [start + len(token) for start, token in zip(starts, tokens, strict=True)]
    return InputRow(number, (InputSentence(tokens, True, starts, ends),), fields=fields, text=text)


def _starts_in(text: str, tokens: list[str]) -> list[int] | None:
    """Offsets of the tokens in a text; None if the text does not hold them in this order."""
    starts, end = [], 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0 or text[end:start].strip():
            return None
        starts.append(start)
        end = start + len(token)
    return starts


def _check_tokens(tokens: list[Any]) -> None:
    for position, token in enumerate(tokens):
        if not isinstance(token, str) or not token:
            raise InputError(
                f"token {position} must be a string that is not empty. Received: {token!r:.60}"
            )
        if len(token) > MAX_TOKEN_CHARS:
            raise InputError(
                f"a token of {len(token):,} characters ({token[:30]!r}...); "
                f"the limit is {MAX_TOKEN_CHARS:,}."
            )
        if not token.isascii():
            _check_unicode(token, f"token {position}")


def _check_unicode(text: str, name: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        raise InputError(f"{name} is not valid Unicode: {text!r:.60}") from None


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
