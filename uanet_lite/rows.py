"""Rows to be tagged, from columns, JSON lines or plain text, one at a time."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from uanet_lite.columns_file import Column, read_sentences
from uanet_lite.input_error import InputError
from uanet_lite.input_format import Lines, looks_like_text
from uanet_lite.raw_text import LANGUAGE, text_sentences
from uanet_lite.sentence import Sentence, check_tokens, check_unicode
from uanet_lite.text_lines import STDIN, display_name
from uanet_lite.tokenizer import Tokenizer


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A unit of input that gets one answer: a sentence of columns, a JSON object, a line of text.

    Attributes:
      line: 1-based line of its beginning.
      sentences: none where it has no words, or text that is not cut yet.
      fields: JSON lines: the whole object.
      text: the raw text, if that is what was given.
      error: why it cannot be tagged.
    """

    line: int
    sentences: tuple[Sentence, ...] = ()
    fields: dict[str, Any] = dataclasses.field(default_factory=dict)
    text: str | None = None
    error: str | None = None

    def cut(
        self, tokenizer: Tokenizer, *, split: bool, language: str = LANGUAGE, file: str = STDIN
    ) -> "Row":
        """The row with the sentences of its text, if it has one that is not cut yet.

        Of JSON, a row of a token that cannot be tagged (too long, or no Unicode) has an error.

        Raises:
          InputError: of lines of text, such a token; names ``file`` and line.
        """
        if self.text is None or self.sentences or self.error is not None:
            return self
        found = text_sentences(self.text, tokenizer, split=split, language=language)
        try:
            for sentence in found:
                check_tokens(sentence.tokens)
        except InputError as error:
            if self.fields:
                return dataclasses.replace(self, error=str(error))
            raise InputError(f"{display_name(file)}:{self.line}: {error}") from None
        return dataclasses.replace(self, sentences=tuple(found))


def read_rows(path: str, kind: str, lines: Lines, token_column: Column) -> Iterator[Row]:
    """Streams the rows of a file; a line that is not JSON, or has no words, is one with an error.

    Args:
      kind: one of ``input_format.FORMATS``.
      lines: (number, text) of its lines.

    Raises:
      InputError: naming file and line: a line that cannot be read; text in place of columns; no
        line at all.
    """
    if kind == "conll":
        yield from _read_columns(path, lines, token_column)
        return
    number = 0
    for number, line in lines:
        yield _read_json_line(number, line) if kind == "jsonl" else Row(number, text=line)
    if not number:
        raise InputError(f"{display_name(path)}: no sentence found, the file is empty.")


def _read_columns(path: str, lines: Lines, token_column: Column) -> Iterator[Row]:
    sentences = read_sentences(
        path, token_column=token_column, label_column=None, keep_rows=True, lines=lines
    )
    for number, sentence in enumerate(sentences):
        if not number and looks_like_text(sentence.rows):
            raise InputError(
                f"{display_name(path)}:{sentence.line}: looks like text, not like columns with a "
                "token a line: name `format=text`."
            )
        yield Row(sentence.line, (sentence,))


def _read_json_line(number: int, line: str) -> Row:
    """A row of {"tokens": [...]} or {"text": "..."}, further keys allowed; or of an error."""
    if not line.strip():
        return Row(number)
    fields: Any = {}
    try:
        fields = json.loads(line)
        return _row_of(fields, number)
    except InputError as error:
        message = str(error)
    except json.JSONDecodeError as error:
        message = f"not JSON ({error.msg}, column {error.colno})"
    except RecursionError:
        message = "not JSON (nested too deeply)"
    except ValueError as error:
        message = f"not JSON ({error})"
    return Row(number, fields=fields if isinstance(fields, dict) else {}, error=message)


def _row_of(fields: Any, number: int) -> Row:
    if isinstance(fields, list):
        raise InputError("a list, not an object: write one object per line (jq -c '.[]' FILE)")
    if not isinstance(fields, dict) or not ("tokens" in fields or "text" in fields):
        raise InputError('not an object with the key "tokens" or "text"')
    text = fields.get("text")
    if text is not None and not isinstance(text, str):
        raise InputError(f'"text" must be a string. Received: {text!r:.60}')
    if text is not None:
        check_unicode(text, '"text"')
    if "tokens" not in fields:
        return Row(number, fields=fields, text=text)
    tokens = fields["tokens"]
    if not isinstance(tokens, list):
        raise InputError(f'"tokens" must be a list of strings. Received: {tokens!r:.60}')
    check_tokens(tokens)
    if not tokens:
        return Row(number, fields=fields)
    starts = None if text is None else _starts_in(text, tokens)
    if starts is None:
        return Row(number, (Sentence(tokens),), fields)
    ends = [start + len(token) for start, token in zip(starts, tokens, strict=True)]
    return Row(number, (Sentence(tokens, text=text, starts=starts, ends=ends),), fields, text)


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
