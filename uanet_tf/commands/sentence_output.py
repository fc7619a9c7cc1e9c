"""Rows with their answers in a format of files, or as a table for the terminal."""

from collections.abc import Sequence
from typing import Any, TextIO

from uanet_lite import row_output
from uanet_lite.row_output import Write
from uanet_lite.rows import Row
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.tagging import terminal

FORMATS = (*row_output.FORMATS, "pretty")


def make_writer(kind: str, stream: TextIO, *, threshold: float | None, **options: Any) -> Write:
    """Returns the function that writes one row with the answers for its sentences.

    Args:
      kind: one of FORMATS.
      stream: where to write.
      threshold: Gamma, nats, for "pretty"; None: the model has no gate.
      **options: of ``row_output.make_writer``, for the other formats.
    """
    if kind == "pretty":
        return _pretty_writer(stream, threshold)
    return row_output.make_writer(kind, stream, **options)


def _pretty_writer(stream: TextIO, threshold: float | None) -> Write:
    printer = terminal.SentencePrinter(
        threshold, color=terminal.wants_color(stream), draw=terminal.can_draw(stream)
    )

    def write(row: Row, answers: Sequence[TaggedSentence]) -> None:
        for answer in answers:
            stream.write(printer.render(answer) + "\n\n")
        if not answers:
            stream.write(f"  ({row.error or 'no words'})\n\n")

    return write
