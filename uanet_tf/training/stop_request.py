"""A signal to stop, as a request that training obeys when its state is consistent."""

import signal
import threading
from types import FrameType
from typing import Any

from absl import logging

from uanet_tf.errors import StoppedBySignal

# Ctrl-C; what schedulers and ``kill`` send; what a closed terminal sends.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Inside this context the first signal only sets ``made``; a second one interrupts at once.

    An interruption in the middle of a step could be saved with weights that are one step ahead of
    the step count, and such a run would not resume to the same weights. A signal that is ignored
    stays so (``nohup`` ignores SIGHUP), but for Ctrl-C's. Outside the main thread, where Python has
    no signals, nothing is changed.
    """

    def __init__(self) -> None:
        self.made = False
        self._number = signal.SIGINT
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def interrupt(self) -> None:
        """Raises StoppedBySignal, for the first signal that came."""
        raise StoppedBySignal(self._number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.made:
            raise StoppedBySignal(number)
        self.made, self._number = True, signal.Signals(number)
        logging.info("stopping as soon as the state is saved; Ctrl-C again: at once")
