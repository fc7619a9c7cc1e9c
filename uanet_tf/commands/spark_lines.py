"""What a Spark worker does with the lines of a file: as ``uanet tag --output_format=jsonl``."""

import dataclasses
import io
import json
from collections.abc import Iterator
from typing import Any

from uanet_lite.rows import Row, read_rows
from uanet_tf.commands import row_source, sentence_output
from uanet_tf.errors import InputError
from uanet_tf.tagging.streams import tag_rows

_PLACE = "the partition"


@dataclasses.dataclass(frozen=True)
class TagLines:
    """Maps lines of a file to lines of JSON.

    Attributes:
      kind: "text", "jsonl", or "conll", whose "lines" are the blocks between empty lines.
      token_column: "conll": column of the words.
      split_sentences: whether a text may hold several sentences.
      language: of the texts, for splitting sentences.
      batch_size: most sentences in a batch of the model.
      batch_tokens: most tokens in a batch of the model, padding included.
    """

    kind: str
    token_column: int
    split_sentences: bool
    language: str
    batch_size: int
    batch_tokens: int

    def __call__(self, model: Any, lines: list[str]) -> list[str]:
        """The answers, in order; a line that cannot be tagged has "error" instead of one."""
        rows = [row for line in lines for row in self._read(line, model)]
        sizes: dict[str, Any] = {"batch_size": self.batch_size, "batch_tokens": self.batch_tokens}
        stream = io.StringIO()
        write = sentence_output.make_writer(
            "jsonl", stream, threshold=None, optional_answers=model.optional_answers
        )
        for row, answers in tag_rows(model, rows, fill_rows=True, **sizes):
            if row.error is None:
                write(row, answers)
            else:
                # Its line number within the file is not known here.
                stream.write(json.dumps(row.fields | {"error": row.error}) + "\n")
        return stream.getvalue().split("\n")[:-1]

    def _read(self, line: str, model: Any) -> Iterator[Row]:
        pieces = line.split("\n") if self.kind == "conll" else [line]
        if self.kind == "conll" and not any(_is_row(piece) for piece in pieces):
            return
        cut = row_source.cutter(
            _PLACE, self.kind, model.tokenizer, self.split_sentences, self.language
        )
        try:
            numbered = iter(enumerate(pieces, 1))
            yield from map(cut, list(read_rows(_PLACE, self.kind, numbered, self.token_column)))
        except InputError as error:
            yield Row(1, error=str(error))


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("-DOCSTART-")
