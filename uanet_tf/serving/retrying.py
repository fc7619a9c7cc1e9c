"""The error of a call to a server, and retries of what may succeed later."""

import dataclasses
import random
import re
import time
from collections.abc import Callable
from typing import TypeVar


class ServingError(RuntimeError):
    """A server could not be reached, or did not give an answer; explained in one sentence.

    Attributes:
      status: HTTP code, or the name of the gRPC code; None where there was no answer.
      retryable: whether the same call may succeed later: refused or lost connections, time-outs, a
        server that is overloaded or not ready. Never a request that the server found wrong.
      sentence: position of the sentence that was refused; None: it was not alone in its request.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | str | None = None,
        retryable: bool = False,
        sentence: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.sentence = sentence


_Result = TypeVar("_Result")
_SHOWN = 300  # characters
_ASSERTION = re.compile(r"assertion failed: \[([^\]]+)\] \[")


def in_short(error: object) -> str:
    """What an error says, in one line; of an assertion in a graph its message alone."""
    told = str(error)
    found = _ASSERTION.search(told)
    return " ".join((found[1] if found else told).split())[:_SHOWN]


@dataclasses.dataclass(frozen=True)
class RetryPolicy:
    """How often to try, and how long to wait in between.

    Attributes:
      attempts: tries in all.
      first_pause: seconds before the second try; each further pause is twice as long.
      longest_pause: most seconds between two tries.
      sleep: waits; tests give one of their own.
    """

    attempts: int = 4
    first_pause: float = 0.25
    longest_pause: float = 5.0
    sleep: Callable[[float], None] = time.sleep

    def call(self, function: Callable[[], _Result]) -> _Result:
        """The result of ``function``, tried again after errors that are retryable.

        Raises the last ServingError.
        """
        for attempt in range(1, self.attempts + 1):
            try:
                return function()
            except ServingError as error:
                if not error.retryable:
                    raise
                if attempt == self.attempts:
                    if attempt == 1:
                        raise
                    told = f"{str(error).rstrip('.')} ({attempt} tries)."
                    raise ServingError(told, status=error.status, retryable=True) from error
            pause = min(self.longest_pause, self.first_pause * 2 ** (attempt - 1))
            # Clients that failed together should not try again together.
            self.sleep(pause * random.uniform(0.5, 1.0))
        raise ValueError(f"`attempts` must be at least 1. Received: attempts={self.attempts}")
