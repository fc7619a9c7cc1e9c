"""What happens between steps: averaging, saving, the progress bar."""

import sys
import time
from typing import Any

import tensorflow as tf
import tqdm

from uanet_tf.training.optimizers import AVERAGE_EVERY, WeightAverage
from uanet_tf.training.saved_state import Progress, StateKeeper
from uanet_tf.training.stop_request import StopRequest


class StepKeeper(tf.keras.callbacks.Callback):
    """Counts steps, averages weights and saves the state at intervals.

    Args:
      progress: counts steps and seconds of the epoch.
      keeper: saves the state.
      average: the moving average of the weights, or None.
      save_seconds: seconds between two saves.
      stop: whether a stop was requested; after a save, training is interrupted.
    """

    def __init__(
        self,
        progress: Progress,
        keeper: StateKeeper,
        average: WeightAverage | None,
        save_seconds: float,
        stop: StopRequest,
    ):
        super().__init__()
        self._progress = progress
        self._keeper = keeper
        self._average = average
        self._save_seconds = save_seconds
        self._stop = stop
        self._saved = time.monotonic()
        self._lap = time.monotonic()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._lap = time.monotonic()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        now = time.monotonic()
        self._progress.advance(1, now - self._lap)
        self._lap = now
        # By the step of the whole run, which continues in a resumed run.
        if self._average is not None and int(self.model.global_step.numpy()) % AVERAGE_EVERY == 0:
            self._average.update()
        if self._stop.made or now - self._saved >= self._save_seconds:
            self._keeper.save()
            self._saved = self._lap = time.monotonic()
        if self._stop.made:
            self._stop.interrupt()


class ProgressBar(tf.keras.callbacks.Callback):
    """A bar on stderr for each epoch; nothing where stderr is not a terminal.

    Args:
      epochs: number of epochs in all.
      steps: steps of the epoch that begins.
      done: steps of it that were done before this process began.
    """

    def __init__(self, epochs: int, steps: int, done: int):
        super().__init__()
        self._epochs = epochs
        self._steps = steps
        self._done = done
        self._bar: tqdm.tqdm | None = None

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._bar = tqdm.tqdm(
            total=self._steps,
            initial=self._done,
            desc=f"epoch {epoch + 1}/{self._epochs}",
            unit="batch",
            leave=False,
            file=sys.stderr,
            disable=None,
            dynamic_ncols=True,
        )

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self._bar is not None and not self._bar.disable:
            self._bar.update()
            self._bar.set_postfix(loss=f"{(logs or {}).get('loss', 0.0):.4f}", refresh=False)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self._bar is not None:
            self._bar.close()
