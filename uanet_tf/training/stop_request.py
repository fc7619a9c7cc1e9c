"""Ctrl-C as a request that training meets at a moment when its state is whole."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from absl import logging


class StopRequest:
    """Inside this context the first Ctrl-C only sets ``made``; a second one interrupts at once.

    An interruption in the middle of a step could be saved with weights that are one step
    ahead of the step count, and such a run would not resume to the same weights.
    Outside the main thread, where Python has no signals, nothing is changed.
    """

    def __init__(self) -> None:
        self.made = False
        self._before: Any = None

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.made:
            raise KeyboardInterrupt
        self.made = True
        logging.info("stopping as soon as the state is saved; Ctrl-C again: at once")
