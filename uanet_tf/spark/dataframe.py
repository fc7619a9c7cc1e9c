"""Tagging a column of a Spark DataFrame."""

import dataclasses
import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any

from uanet_lite import answers
from uanet_lite.input_error import InputError
from uanet_lite.sentence import NO_WORDS, Sentence, sentence_of
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.spark.shipped_model import ShippedModel, ship
from uanet_tf.tagging.streams import tag_in_context

_ANSWERS = [answer.name for answer in answers.answers(answers.IN_TEXT)]
TAGGED, ERROR = "tagged", "error"


def tag(
    dataframe: Any,
    run_dir: str | os.PathLike[str],
    *,
    column: str = "text",
    shared: bool = False,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    **options: Any,
) -> Any:
    """Tags a column of texts, each one sentence, or of lists of words.

    Lazy, like all of Spark: the work is done when the result is used. The model is sent to each
    executor once and loaded once by each of its Python processes; sentences are sorted by length
    within an Arrow batch (``spark.sql.execution.arrow.maxRecordsPerBatch`` rows, 10,000 as Spark is
    delivered), and rows keep their order. A task that is run again gives the same answers.

    Args:
      dataframe: of Spark.
      run_dir: a trained run.
      column: its column of strings, or of arrays of strings.
      shared: every executor can read ``run_dir`` (a network disk, an image), so nothing is sent.
      batch_size, batch_tokens: of the model, see ``uanet_tf.tag``.
      **options: of ``load_model``: ``threshold``, ``num_samples``, ...

    Returns:
      The DataFrame with two more columns. ``tagged``: a struct with the fields of
      ``TaggedSentence.to_dict``; null in a row that cannot be tagged. ``error``: why it cannot
      (no text, a word that is empty or too long); null elsewhere.

    Raises:
      InputError: no trained run, or no such column; columns of those two names.
    """
    from pyspark.sql.types import ArrayType, StringType, StructType

    types = {field.name: field.dataType for field in dataframe.schema.fields}
    kind = types.get(column)
    if kind is None:
        raise InputError(f"There is no column {column!r}; there are {', '.join(types)}.")
    if kind not in (StringType(), ArrayType(StringType(), True), ArrayType(StringType(), False)):
        raise InputError(
            f"The column {column!r} must hold strings or arrays of strings. "
            f"Received: {kind.simpleString()}"
        )
    taken = [name for name in (TAGGED, ERROR) if name in types]
    if taken:
        raise InputError(f"The DataFrame has a column {taken[0]!r} already: rename it.")
    model = ship(dataframe.sparkSession, run_dir, options, shared=shared)
    added: Any = StructType.fromDDL(f"{TAGGED} {answers.spark_type()}, {ERROR} string")
    schema = StructType([*dataframe.schema.fields, *added.fields])
    batches = TagBatches(
        model, list(types).index(column), added[TAGGED].dataType, batch_size, batch_tokens
    )
    return dataframe.mapInArrow(batches, schema)


@dataclasses.dataclass(frozen=True)
class TagBatches:
    """Maps Arrow batches to batches with two more columns, see ``uanet_tf.spark.tag``.

    ``column`` is the number of the column of texts or words; ``tagged_type`` is
    ``answers.spark_type()``, read: only the driver can read it from text.
    """

    model: ShippedModel
    column: int
    tagged_type: Any
    batch_size: int | None
    batch_tokens: int | None

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
        sizes = {"batch_size": self.batch_size, "batch_tokens": self.batch_tokens}
        first = operator.itemgetter(0)
        tagged = tag_in_context(model, rows, key=first, alone=True, fill_rows=True, **sizes)
        found = [None if error else _answer(answer) for (_, error), answer in tagged]
        return found, [error for _, error in rows]


def _read(value: Any, tokenizer: Tokenizer) -> tuple[Sentence, str | None]:
    """A row's sentence, or why it cannot be tagged."""
    if value is None or not (isinstance(value, str) or all(value)):
        return NO_WORDS, "There is no text, or a word is missing or empty."
    try:
        return sentence_of(value, "the row", tokenizer), None
    except InputError as error:
        return NO_WORDS, str(error)


def _answer(tagged: TaggedSentence) -> dict[str, Any]:
    names = ("tokens", "starts", "ends", *_ANSWERS)
    found = {name: getattr(tagged, name) for name in names}
    found |= {"text": tagged.source_text, "entities": tagged.entities}
    for name in ("entities", "candidates"):
        found[name] = found[name] and [span._asdict() for span in found[name]]
    return found
