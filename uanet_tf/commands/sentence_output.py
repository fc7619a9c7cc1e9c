"""Tagged sentences as CoNLL, JSON lines, or a picture for people."""

import json
from collections.abc import Callable, Sequence
from typing import TextIO

from uanet_tf.commands.sentence_input import InputSentence
from uanet_tf.errors import InputError
from uanet_tf.evaluation import terminal
from uanet_tf.tagging.tagged_sentence import TaggedSentence

FORMATS = ("conll", "jsonl", "pretty")
_DOCUMENT_MARK = "-DOCSTART-"

Write = Callable[[InputSentence, TaggedSentence], None]


def make_writer(
    kind: str,
    stream: TextIO,
    *,
    threshold: float | None,
    uncertainty_columns: bool = False,
) -> Write:
    """Returns the function that writes one tagged sentence.

    Args:
      kind: one of FORMATS.
      stream: where to write.
      threshold: Gamma, nats, for "pretty"; None: the model has no gate.
      uncertainty_columns: "conll": write draft label and uncertainty before the label.
    """
    if kind == "conll":
        return _conll_writer(stream, uncertainty_columns)
    if kind == "jsonl":
        return lambda source, tagged: _write_json(stream, source, tagged)
    return _pretty_writer(stream, threshold)


def _conll_writer(stream: TextIO, uncertainty_columns: bool) -> Write:
    """The rows of the input, or its tokens, and the label as last column, as conlleval wants.

    A -DOCSTART- line is written where the input has one.
    """

    def write(source: InputSentence, tagged: TaggedSentence) -> None:
        rows = source.rows or _one_column(tagged.tokens, source.line)
        # In the input's own manner: a tab behind blanks would make the blanks part of the token.
        blanks = source.rows and " " in rows[0] and "\t" not in rows[0]
        separator = " " if blanks else "\t"
        columns: list[list[str]] = [list(rows)]
        if uncertainty_columns:
            columns += [tagged.draft_labels, [f"{value:.4f}" for value in tagged.uncertainty]]
        columns.append(tagged.labels)
        if source.docstart:
            added = ["-X-", "0.0000"] if uncertainty_columns else []
            stream.write(separator.join([_document_row(rows[0]), *added, "O"]) + "\n\n")
        stream.write("\n".join(map(separator.join, zip(*columns, strict=True))) + "\n\n")

    return write


def _one_column(tokens: Sequence[str], line: int) -> Sequence[str]:
    """The tokens, if each of them can stand in a column of its own."""
    for token in tokens:
        if token != token.strip(" ") or any(char in token for char in "\t\n\r"):
            raise InputError(
                f"Line {line} of the input: the token {token[:30]!r} cannot stand in a CoNLL "
                "column: name another --output_format."
            )
    return tokens


def _document_row(row: str) -> str:
    """A -DOCSTART- line of as many columns as ``row`` has: conlleval wants them all alike."""
    separator = "\t" if "\t" in row else " "
    count = len(row.split("\t") if separator == "\t" else row.split())
    middle, last = ["-X-"] * (count - 2), ["O"] * (count > 1)
    return separator.join([_DOCUMENT_MARK, *middle, *last])


def _write_json(stream: TextIO, source: InputSentence, tagged: TaggedSentence) -> None:
    """The fields of the input and those of the answer, which win where both have one."""
    fields = source.fields | tagged.to_dict()
    text = json.dumps(fields, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, escaped in the input
        text = json.dumps(fields)
    stream.write(text + "\n")


def _pretty_writer(stream: TextIO, threshold: float | None) -> Write:
    printer = terminal.SentencePrinter(
        threshold, color=terminal.wants_color(stream), draw=terminal.can_draw(stream)
    )

    def write(source: InputSentence, tagged: TaggedSentence) -> None:
        del source
        stream.write(printer.render(tagged) + "\n\n")

    return write
