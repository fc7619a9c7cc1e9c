"""A run's model on its way to the executors, and what it does there with lines of files."""

import atexit
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from uanet_lite.input_error import InputError

_MODEL = "model.keras"
_loaded: dict[Any, Any] = {}
_lock = threading.Lock()


@dataclasses.dataclass(frozen=True)
class ShippedModel:
    """Tells a worker where the model is and how it is applied: with ``options`` of ``load_model``.

    Attributes:
      run_dir: the run, where every executor can read it; None: the model comes as ``file``.
      file: name of the file that ``SparkContext.addFile`` sent.
    """

    run_dir: str | None
    file: str | None
    options: tuple[tuple[str, Any], ...]

    def load(self) -> Any:
        """The model; loaded at the first call of a process, for the cores that a task is given."""
        with _lock:
            if self not in _loaded:
                if not _loaded:
                    _limit_threads()
                _loaded[self] = self._load()
            return _loaded[self]

    def _load(self) -> Any:
        from pyspark import SparkFiles

        from uanet_tf.models.loading import load_model

        with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
            if self.file is not None:
                os.symlink(SparkFiles.get(self.file), os.path.join(folder, _MODEL))
            return load_model(self.run_dir or folder, **dict(self.options))


def ship(
    session: Any, run_dir: str | os.PathLike[str], options: Mapping[str, Any], *, shared: bool
) -> ShippedModel:
    """Sends the model of a run on the driver's machine to the executors, once each.

    ``shared``: nothing is sent, since every executor can read ``run_dir``. Raises InputError where
    it has no model.
    """
    path = pathlib.Path(run_dir) / _MODEL
    if not path.is_file():
        raise InputError(
            f"{run_dir} holds no {_MODEL}: it is not a run directory of a trained run."
        )
    kept = tuple(sorted(options.items()))
    if shared:
        return ShippedModel(os.path.abspath(run_dir), None, kept)
    # By its content: an executor keeps files by name, and a run may be trained again.
    name = f"uanet_tf_{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}.keras"
    context = session.sparkContext
    if not any(file.endswith(f"/{name}") for file in context.listFiles):
        # Executors that start later fetch it from here.
        folder = tempfile.mkdtemp(prefix="uanet_tf_spark_")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        context.addFile(shutil.copyfile(path, os.path.join(folder, name)))
    return ShippedModel(None, name, kept)


def _limit_threads() -> None:
    import tensorflow as tf
    from pyspark import TaskContext

    context = TaskContext.get()
    # A batch runs on one thread, as many at once as the task has cores.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(context.cpus() if context else 1)


# Tagging costs far more than reading: smaller pieces than Spark's 128 MB and 4 MB keep all cores
# busy, and less is lost with an executor.
_SETTINGS = {
    "spark__sql__files__maxPartitionBytes": "16m",
    "spark__sql__files__openCostInBytes": "64k",
}
# A model and a list of lines -> as many lines, or fewer where some are blank.
Work = Callable[[Any, list[str]], list[str]]


def settings(partitions: int | None) -> dict[str, str]:
    """Spark's settings for reading, see ``make_session``; no ``partitions``: one for each core."""
    least = {} if partitions is None else {"spark__sql__files__minPartitionNum": str(partitions)}
    return {**_SETTINGS, **least}


def read_lines(session: Any, path: str, kind: str) -> Any:
    """A DataFrame of one column: lines; of "conll" stretches between blank lines."""
    return session.read.option("lineSep", "\n\n" if kind == "conll" else "\n").text(path)


def map_lines(
    lines: Any,
    work: Work,
    run_dir: str | os.PathLike[str],
    options: Mapping[str, Any],
    *,
    shared: bool,
) -> Any:
    """``work`` on Arrow batches of lines with a run's model, see ``ship``; a DataFrame of lines."""
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
