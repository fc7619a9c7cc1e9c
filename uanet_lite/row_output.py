"""Rows with their answers, as columns (CoNLL) or JSON lines."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from uanet_lite.answers import to_json
from uanet_lite.input_error import InputError
from uanet_lite.rows import Row
from uanet_lite.strict_json import json_text
from uanet_lite.tagged_sentence import TaggedSentence

FORMATS = ("conll", "jsonl")
_SEPARATORS = re.compile(r"[ \t\n\r]")
_UNFIT = re.compile(r"\A | \Z|[\t\n\r]")  # of a token in a column
_DOCUMENT_MARK = "-DOCSTART-"
_WITH_PLACES = {"entities", "candidates"}  # of tokens

Write = Callable[[Row, Sequence[TaggedSentence]], None]


def make_writer(
    kind: str,
    stream: TextIO,
    *,
    uncertainty_columns: bool = False,
    optional_answers: Iterable[str] = (),
) -> Write:
    """The function that writes one row with the answers for its sentences, in one of FORMATS.

    Args:
      uncertainty_columns: "conll": write draft label and uncertainty before the label; of a run
        with a target precision also 1 where the label is accepted, else 0.
      optional_answers: the model's, for "jsonl": a row without words has them too, as empty lists.
    """
    if kind == "conll":
        return lambda row, answers: _write_columns(stream, row, answers, uncertainty_columns)
    empty: dict[str, Any] = {name: [] for name in optional_answers}
    nothing = dataclasses.replace(_NOTHING, **empty)
    return lambda row, answers: _write_json(stream, row, answers or [nothing])


def _write_columns(
    stream: TextIO, row: Row, answers: Sequence[TaggedSentence], uncertainty_columns: bool
) -> None:
    """The rows of the input, or its tokens, with the label as last column, as conlleval expects.

    A -DOCSTART- line is written where the input has one, a blank line for a row without words.
    """
    for sentence, tagged in zip(row.sentences, answers, strict=True):
        rows = sentence.rows or _one_column(tagged.tokens, row.line)
        # The input's own separator: a tab after blanks would make the blanks part of the token.
        blanks = sentence.rows and " " in rows[0] and "\t" not in rows[0]
        separator = " " if blanks else "\t"
        columns: list[list[str]] = [list(rows)]
        if uncertainty_columns:
            columns += [tagged.draft_labels, [f"{value:.4f}" for value in tagged.uncertainty]]
            if tagged.accepted is not None:
                columns.append([str(int(value)) for value in tagged.accepted])
        columns.append(tagged.labels)
        if sentence.docstart:
            added = ["-X-", "0.0000", "0"][: len(columns) - 2]
            stream.write(separator.join([_document_row(rows[0]), *added, "O"]) + "\n\n")
        stream.write("\n".join(map(separator.join, zip(*columns, strict=True))) + "\n\n")
    if not answers:
        stream.write("\n")


def _one_column(tokens: Sequence[str], line: int) -> Sequence[str]:
    """The tokens, if each of them can be written as one column."""
    if not _SEPARATORS.search("".join(tokens)):
        return tokens
    for token in tokens:
        if _UNFIT.search(token):
            raise InputError(
                f"Line {line} of the input: the token {token[:30]!r} cannot be written in a CoNLL "
                "column: name another `output_format`."
            )
    return tokens


def _document_row(row: str) -> str:
    """A -DOCSTART- line of as many columns as ``row`` has, as conlleval expects."""
    separator = "\t" if "\t" in row else " "
    count = len(row.split("\t") if separator == "\t" else row.split())
    middle, last = ["-X-"] * (count - 2), ["O"] * (count > 1)
    return separator.join([_DOCUMENT_MARK, *middle, *last])


def _write_json(stream: TextIO, row: Row, answers: Sequence[TaggedSentence]) -> None:
    """The fields of the input and of the answer; the answer's win where both have one."""
    if row.error is None:
        fields = row.fields | _joined_answer(row.text, answers)
    else:
        fields = row.fields | {"error": row.error, "line": row.line}
    stream.write(json_text(fields) + "\n")


def _joined_answer(text: str | None, answers: Sequence[TaggedSentence]) -> dict[str, Any]:
    """The answers for a row's sentences as one, for JSON; positions of tokens count in the row.

    ``sentences`` has their places, [first token, token after the last], unless it is one sentence.
    """
    if len(answers) == 1 and answers[0].tokens:
        return to_json(answers[0])
    parts = [to_json(answer) for answer in answers]
    joined: dict[str, Any] = {"text": text or ""}
    for name in parts[0]:
        if name != "text":
            joined[name] = [value for part in parts for value in part[name]]
    joined |= {name: [] for name in ("sentences", *(_WITH_PLACES & joined.keys()))}
    position = 0
    for part in parts:
        for name in _WITH_PLACES & part.keys():
            for span in part[name]:
                places = {key: span[key] + position for key in ("token_start", "token_end")}
                joined[name].append(span | places)
        end = position + len(part["tokens"])
        if end > position:
            joined["sentences"].append([position, end])
        position = end
    return joined


_NOTHING = TaggedSentence([], [], [], [], [], [], [])
