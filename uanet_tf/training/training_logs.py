"""What is seen of a run while it trains: a progress bar, and figures for TensorBoard."""

import contextlib
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
import tqdm

from uanet_tf.errors import InputError, written_reason


def progress_bar(epoch: int, epochs: int, steps: int, done: int) -> tqdm.tqdm:
    """A bar on stderr for the steps of an epoch, some of which an earlier process has done.

    Nothing where stderr is not a terminal.
    """
    return tqdm.tqdm(
        total=steps,
        initial=done,
        desc=f"epoch {epoch}/{epochs}",
        unit="batch",
        leave=False,
        file=sys.stderr,
        disable=None,
        dynamic_ncols=True,
    )


class TrainingLogs:
    """Writes the figures of each epoch.

    Args:
      folder: of the logs; created if it does not exist.

    Raises:
      InputError: the folder cannot be written to.
    """

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        with self._writing():
            self._writer = tf.summary.create_file_writer(str(folder))

    def write(self, entry: dict[str, Any]) -> None:
        """Writes an epoch's entry of ``metrics.json``, to its end.

        Raises:
          InputError: it cannot be written, as on a full disk.
        """
        step = entry["epoch"]
        with self._writing(), self._writer.as_default():
            tf.summary.scalar("train/loss", entry["loss"], step)
            tf.summary.scalar("train/sentences_per_second", entry["sentences_per_second"], step)
            for key, value in entry["dev"].items():
                if value is not None:
                    tf.summary.scalar(f"dev/{key}", value, step)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except (OSError, tf.errors.OpError) as error:
            raise InputError(
                f"{self._folder} cannot be written: {written_reason(error)}. "
                "Once it can, the same command continues."
            ) from error
