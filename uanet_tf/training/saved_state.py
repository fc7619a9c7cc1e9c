"""What of a run is saved: its state while it trains, and the weights of its best epoch."""

import io
import json
import pathlib
import shutil
import zipfile
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_tf.errors import InputError, one_line, written_reason
from uanet_tf.training.optimizers import WeightAverage
from uanet_tf.training.trainer import Trainer

KEPT_STATES = 2
_PREFIX = "ckpt-"
# What TensorFlow raises on a damaged checkpoint; it turns some of its errors into Python's.
_UNREADABLE = (tf.errors.OpError, ValueError, AssertionError, IndexError, RuntimeError, MemoryError)
# What NumPy raises on a damaged archive.
_DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zipfile.BadZipFile)


class Progress(tf.Module):
    """Epoch, step, best score and history of a run.

    The history is part of the checkpoint: so a killed run never finds metrics of an epoch whose
    weights it has lost, or vice versa.
    """

    def __init__(self) -> None:
        super().__init__(name="progress")
        self._epoch = tf.Variable(0, trainable=False, dtype=tf.int64)
        self._step = tf.Variable(0, trainable=False, dtype=tf.int64)
        self._seconds = tf.Variable(0.0, trainable=False, dtype=tf.float64)
        record = json.dumps({"epochs": [], "best_epoch": None, "best_score": None})
        self._record = tf.Variable(record, trainable=False)

    @property
    def epoch(self) -> int:
        """Epochs completed."""
        return int(self._epoch.numpy())

    @property
    def step(self) -> int:
        """Steps done in the present epoch."""
        return int(self._step.numpy())

    @property
    def seconds(self) -> float:
        """Seconds of training in the present epoch, over all processes that worked on it."""
        return float(self._seconds.numpy())

    @property
    def record(self) -> dict[str, Any]:
        """``epochs`` (entries of metrics.json), ``best_epoch`` (from 1) and ``best_score``."""
        return json.loads(self._record.numpy().decode("utf-8"))

    def advance(self, steps: int, seconds: float) -> None:
        """Counts steps of the present epoch and the time they took."""
        self._step.assign_add(steps)
        self._seconds.assign_add(seconds)

    def finish_epoch(self, entry: dict[str, Any], score: float, *, eligible: bool = True) -> bool:
        """Records an epoch, which may be the best if ``eligible``; returns whether its score is."""
        record = self.record
        record["epochs"].append(entry)
        before = record["best_score"]
        # A score of 0 tells nothing, but that the model has not learnt yet.
        best = eligible and (before is None or score > before or score == before == 0.0)
        if best:
            record["best_epoch"], record["best_score"] = entry["epoch"], score
        self._record.assign(json.dumps(record))
        self._epoch.assign_add(1)
        self._step.assign(0)
        self._seconds.assign(0.0)
        return best


class StateKeeper:
    """Saves and restores all that a run needs to continue as if never stopped.

    Args:
      directory: of the checkpoints.
      average: the moving average of the weights, if there is one.
      read_only: states are written by another process.
    """

    def __init__(
        self,
        directory: pathlib.Path,
        trainer: Trainer,
        progress: Progress,
        average: WeightAverage | None,
        *,
        read_only: bool = False,
    ):
        self._directory, self._read_only = directory, read_only
        averages = {} if average is None else {"average": average}
        self._checkpoint = tf.train.Checkpoint(trainer=trainer, progress=progress, **averages)

    def save(self) -> None:
        """Writes a state; those before it stay until it is complete.

        Raises InputError if it cannot be written, as on a full disk; the last complete one is kept.
        """
        if self._read_only:
            return
        numbers = self._numbers()
        number = max(numbers, default=0) + 1
        path = self._directory / f"{_PREFIX}{number}"
        try:
            self._checkpoint.write(str(path))
        except (OSError, tf.errors.OpError) as error:
            self._sweep(numbers)
            raise InputError(
                f"{path} cannot be written: {written_reason(error)}. Once it can, the same command "
                "continues from the last saved state."
            ) from error
        self._sweep([*numbers, number])

    def _numbers(self) -> list[int]:
        """Of the complete states, in order: an index is written last.

        By their files, and not by TensorFlow's own list of checkpoints: that may be behind them,
        or broken, and its manager deletes whatever the list names, in other folders too.
        """
        names = (path.stem.removeprefix(_PREFIX) for path in self._directory.glob("ckpt-*.index"))
        return sorted(int(name) for name in names if name.isdecimal() and name.isascii())

    def _sweep(self, numbers: list[int]) -> None:
        """Deletes all but the newest states, and what saving or deleting left when killed."""
        if self._read_only:
            return
        kept = {f"{_PREFIX}{number}" for number in numbers[-KEPT_STATES:]}
        # An index first: without it, data are no state.
        states = self._directory.glob("ckpt-*")
        for path in sorted(states, key=lambda path: path.suffix != ".index"):
            if path.name.split(".")[0] in kept:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def restore(self) -> bool:
        """Restores the newest readable checkpoint; returns whether there was one.

        Raises InputError if there are checkpoints, but none can be read.
        """
        numbers = self._numbers()
        self._sweep(numbers)
        for number in numbers[::-1]:
            path = self._directory / f"{_PREFIX}{number}"
            try:
                self._checkpoint.read(str(path)).assert_existing_objects_matched()
            except _UNREADABLE as error:
                logging.warning("%s cannot be restored: %s", path, one_line(error))
                continue
            return True
        if numbers:
            raise InputError(
                f"None of the checkpoints in {self._directory} can be read: "
                "delete the run directory to start again."
            )
        return False


def save_weights(model: tf.keras.Model, path: pathlib.Path) -> None:
    """Writes all weights of a model, in the order of ``model.weights``, or raises OSError."""
    arrays = {str(number): weight.numpy() for number, weight in enumerate(model.weights)}
    packed = io.BytesIO()  # a half written archive would complain when it is collected
    np.savez(packed, **arrays)
    with open(path, "wb") as file:
        file.write(packed.getbuffer())


def load_weights(model: tf.keras.Model, path: pathlib.Path) -> None:
    """Sets the weights of a model to those of ``save_weights``, all of them or none.

    Raises InputError if the file cannot be read, or is of another model.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            if len(stored.files) != len(model.weights):
                raise InputError("it holds the weights of another model")
            arrays = [stored[str(number)] for number in range(len(model.weights))]
        for weight, array in zip(model.weights, arrays, strict=True):
            if weight.shape != array.shape or weight.dtype != array.dtype:
                raise InputError("it holds the weights of another model")
    except _DAMAGED as error:
        raise InputError(
            f"{path} cannot be read: {one_line(error)}. It holds the weights of the best epoch; "
            "train in another `run_dir`."
        ) from error
    model.set_weights(arrays)


def copy_weights(source: tf.keras.Model, target: tf.keras.Model) -> None:
    """Sets all weights of a model to those of another one like it."""
    for mine, other in zip(target.weights, source.weights, strict=True):
        mine.assign(other.numpy())
