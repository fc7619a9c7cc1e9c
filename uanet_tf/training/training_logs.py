"""What is seen of a run while it trains: a progress bar, and figures for TensorBoard."""

import contextlib
import pathlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from uanet_tf.errors import InputError, written_reason


def progress_bar(
    name: str, total: int, done: int = 0, *, unit: str = "batch", stays: bool | None = None
) -> Any:
    """A bar of ``total`` steps on stderr or in a notebook, of which an earlier process did some.

    Args:
      name: what stands before it, as "epoch 1/10".
      unit: what a step is.
      stays: True: shown anywhere, and left there at its end; False: not at all; None: while it
        runs, where stderr is a terminal.
    """
    with warnings.catch_warnings():  # of a notebook without widgets, where it is drawn as text
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm(
        total=total,
        initial=done,
        desc=name,
        unit=unit,
        leave=bool(stays),
        file=sys.stderr,
        disable=None if stays is None else not stays,
        dynamic_ncols=True,
    )


class TrainingLogs:
    """Writes the figures of each epoch into a folder, which is created if it does not exist.

    Raises InputError if it cannot be written to.
    """

    def __init__(self, folder: pathlib.Path):
        self._folder = folder
        with self._writing():
            self._writer = tf.summary.create_file_writer(str(folder))

    def write(self, entry: dict[str, Any]) -> None:
        """Writes an epoch's entry of ``metrics.json``, to its end.

        Raises InputError if it cannot be written, as on a full disk.
        """
        step = entry["epoch"]
        with self._writing(), self._writer.as_default():
            for key, value in entry.items():
                if key not in ("epoch", "dev"):
                    tf.summary.scalar(f"train/{key}", value, step)
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
