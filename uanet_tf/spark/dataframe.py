"""Tagging a column of a Spark DataFrame."""

import os
from typing import Any

from uanet_lite.answers import spark_type
from uanet_tf.errors import InputError
from uanet_tf.spark.shipped_model import ship
from uanet_tf.spark.tag_batches import TagBatches
from uanet_tf.tagging.streams import BATCH_SIZE, BATCH_TOKENS

TAGGED, ERROR = "tagged", "error"


def tag(
    dataframe: Any,
    run_dir: str | os.PathLike[str],
    *,
    column: str = "text",
    shared: bool = False,
    batch_size: int = BATCH_SIZE,
    batch_tokens: int = BATCH_TOKENS,
    **options: Any,
) -> Any:
    """Tags a column of texts, each one sentence, or of lists of words.

    Lazy, like all of Spark: the work is done when the result is used. The model is sent to
    each executor once and loaded once by each of its Python processes; sentences are sorted by
    length within an Arrow batch (``spark.sql.execution.arrow.maxRecordsPerBatch`` rows, 10,000 as
    Spark is delivered), and rows keep their order. A task that is run again gives the same answers.

    Args:
      dataframe: of Spark.
      run_dir: a trained run.
      column: its column of strings, or of arrays of strings.
      shared: every executor can read ``run_dir`` (a network disk, an image), so nothing is sent.
      batch_size: most sentences in a batch of the model.
      batch_tokens: most tokens in a batch of the model, padding included.
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
    added: Any = StructType.fromDDL(f"{TAGGED} {spark_type()}, {ERROR} string")
    schema = StructType([*dataframe.schema.fields, *added.fields])
    batches = TagBatches(
        model, list(types).index(column), added[TAGGED].dataType, batch_size, batch_tokens
    )
    return dataframe.mapInArrow(batches, schema)
