"""Lines of files in, lines of files out, with Spark."""

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.spark.shipped_model import ShippedModel, ship

# Tagging costs far more than reading: smaller pieces than Spark's 128 MB and 4 MB keep all cores
# busy, and less is lost with an executor.
_SETTINGS = {
    "spark__sql__files__maxPartitionBytes": "16m",
    "spark__sql__files__openCostInBytes": "64k",
}
# A model and a list of lines -> as many lines, or fewer where some are blank.
Work = Callable[[Any, list[str]], list[str]]


def settings(partitions: int | None) -> dict[str, str]:
    """Spark's settings for reading, see ``make_session``.

    Args:
      partitions: least number of partitions; None: as many as there are cores.
    """
    least = {} if partitions is None else {"spark__sql__files__minPartitionNum": str(partitions)}
    return {**_SETTINGS, **least}


def read_lines(session: Any, path: str, kind: str) -> Any:
    """A DataFrame of one column: lines; of "conll" stretches between blank lines."""
    reader = session.read.option("lineSep", "\n\n" if kind == "conll" else "\n")
    return reader.text(path)


def map_lines(
    lines: Any,
    work: Work,
    run_dir: str | os.PathLike[str],
    options: Mapping[str, Any],
    *,
    shared: bool,
) -> Any:
    """Does ``work`` on Arrow batches of lines with the model of a run; a DataFrame of lines.

    Raises:
      InputError: no trained run.
    """
    model = ship(lines.sparkSession, run_dir, options, shared=shared)
    return lines.mapInArrow(_MapLines(model, work), "value string")


@contextlib.contextmanager
def input_errors() -> Iterator[None]:
    """Turns Spark's errors on paths and columns into an InputError."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        raise InputError(str(error).partition("\n")[0]) from None


@dataclasses.dataclass(frozen=True)
class _MapLines:
    model: ShippedModel
    work: Work

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        model = self.model.load()
        for batch in batches:
            lines = self.work(model, batch.column(0).to_pylist())
            yield pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], names=["value"])
