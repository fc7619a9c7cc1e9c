"""Bounds what requests can write into a log."""

import logging
import threading
import time
from collections.abc import Callable


class LineBudget(logging.Filter):
    """Lets so many lines through in a period; the next line after it counts those left out.

    Every malformed request makes uvicorn log a line, so that a client could fill the disk.

    Args:
      lines: most lines in a period.
      seconds: length of a period.
      clock: seconds that only grow.
    """

    def __init__(
        self, lines: int = 60, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ):
        super().__init__()
        self.lines = lines
        self.seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._end = clock() + seconds
        self._used = self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged."""
        with self._lock:
            if self._clock() >= self._end:
                self._end = self._clock() + self.seconds
                if self._left_out:
                    record.msg = f"{record.getMessage()} ({self._left_out:,} lines were left out)"
                    record.args = None
                self._used = self._left_out = 0
            allowed = self._used < self.lines
            self._used += allowed
            self._left_out += not allowed
            return allowed
