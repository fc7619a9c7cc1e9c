"""What a worker does with the Arrow batches of a partition."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from uanet_lite import answers
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.spark.shipped_model import ShippedModel
from uanet_tf.tagging import sentence_stream

MAX_TOKEN_CHARS = 1_000
_OPTIONAL = [answer.name for answer in answers.answers(answers.IN_TEXT, optional=True)]
_ALWAYS = [answer.name for answer in answers.answers(answers.IN_TEXT, optional=False)]


@dataclasses.dataclass(frozen=True)
class TagBatches:
    """Maps Arrow batches to batches with two more columns, see ``uanet_tf.spark.tag``.

    Attributes:
      model: which model, and where it is.
      column: number of the column of texts or words.
      tagged_type: ``answers.spark_type()``, read; only the driver can read it from text.
      batch_size: most sentences in a batch of the model.
      batch_tokens: most tokens in a batch of the model, padding included.
    """

    model: ShippedModel
    column: int
    tagged_type: Any
    batch_size: int
    batch_tokens: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Arrow batches in, Arrow batches out."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_type

        tagged_type = to_arrow_type(self.tagged_type)
        model = self.model.load()
        for batch in batches:
            tagged, errors = self._tag(model, batch.column(self.column).to_pylist())
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, pa.array(tagged, tagged_type), pa.array(errors, pa.string())],
                names=[*batch.schema.names, "tagged", "error"],
            )

    def _tag(self, model: Any, values: list[Any]) -> tuple[list[dict | None], list[str | None]]:
        """The answer of each row, and why it has none."""
        rows = [_read(value, model.tokenizer) for value in values]
        tagged = sentence_stream.tag_stream(
            model,
            [row.tokens for row in rows if row.tokens],
            batch_size=self.batch_size,
            batch_tokens=self.batch_tokens,
            fill_rows=True,
        )
        return [_answer(row, tagged) for row in rows], [row.error for row in rows]


class _Row(NamedTuple):
    """A row's words and their offsets in its text, or an error."""

    tokens: list[str]
    starts: list[int]
    ends: list[int]
    text: str
    error: str | None = None


def _read(value: Any, tokenizer: Tokenizer) -> _Row:
    if isinstance(value, str):
        spans = tokenizer.spans(value)
        tokens = [value[start:end] for start, end in spans]
        row = _Row(tokens, [start for start, _ in spans], [end for _, end in spans], value)
    elif value is None or not all(value):
        return _Row([], [], [], "", "There is no text, or a word is missing or empty.")
    else:
        ends = [end - 1 for end in itertools.accumulate(len(token) + 1 for token in value)]
        starts = [end - len(token) for end, token in zip(ends, value, strict=True)]
        row = _Row(value, starts, ends, " ".join(value))
    longest = max(map(len, row.tokens), default=0)
    if longest > MAX_TOKEN_CHARS:
        error = f"A word has {longest:,} characters, the limit is {MAX_TOKEN_CHARS:,}."
        return _Row([], [], [], "", error)
    return row


def _answer(row: _Row, tagged: Iterator[TaggedSentence]) -> dict[str, Any] | None:
    if row.error is not None:
        return None
    places: dict[str, Any] = {"text": row.text, "starts": row.starts, "ends": row.ends}
    if not row.tokens:
        return {
            **{name: [] for name in (*_ALWAYS, "tokens", "entities")},
            **dict.fromkeys(_OPTIONAL),
            **places,
        }
    sentence = dataclasses.replace(next(tagged), **places)
    answer = {name: getattr(sentence, name) for name in ("tokens", *_ALWAYS, *_OPTIONAL)}
    return answer | places | {"entities": [entity._asdict() for entity in sentence.entities]}
