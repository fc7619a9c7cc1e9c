"""What one client of the server, and all of them together, may use."""

import collections
import contextlib
import dataclasses
import functools
import http
import math
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping

import numpy as np

from uanet_tf.serving.rest_api.rest_error import RestError, bad_request
from uanet_tf.serving.text_positions import count_pieces

_CHARACTERS_A_TOKEN = 64


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a server; beyond one of them a request is refused, and nothing else changes.

    Attributes:
      body_bytes: largest body, unpacked too (413).
      tokens: most tokens of a request, padding included (400); also of all requests that run at
        once: others wait. It bounds memory.
      answer_seconds: longest time from a body to its answer, waiting included (504); 0: no limit.
      read_seconds: longest time for the head of a request, for its body (408), and for taking
        the answer.
      connections: most connections; a further one gets 503 and is closed.
    """

    body_bytes: int = 8 << 20
    tokens: int = 4096
    answer_seconds: float = 30.0
    read_seconds: float = 30.0
    connections: int = 512


class TokenBudget:
    """Runs requests in the order they come, within a limit on their tokens together.

    Args:
      most: tokens of all requests that run at once, and so of a single one.
      wait_seconds: longest wait for a turn; 0: no limit.
    """

    def __init__(self, most: int, wait_seconds: float = 0.0) -> None:
        self._most = most
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()
        self._used = 0
        self._waiting: collections.deque[object] = collections.deque()

    @contextlib.contextmanager
    def spend(self, tokens: int) -> Iterator[None]:
        """Within this context the tokens are taken from the budget.

        Raises:
          RestError: 400, more tokens than the whole budget; 504, no turn in time.
        """
        if tokens > self._most:
            raise bad_request(
                f"The request has {tokens:,} tokens, padding included; the limit is "
                f"{self._most:,} (--max_tokens_per_request)."
            )
        self._take(tokens)
        try:
            yield
        finally:
            with self._changed:
                self._used -= tokens
                self._changed.notify_all()

    def _take(self, tokens: int) -> None:
        ticket = object()
        end = time.monotonic() + self._wait_seconds if self._wait_seconds else None
        with self._changed:
            self._waiting.append(ticket)
            try:
                while self._waiting[0] is not ticket or self._used + tokens > self._most:
                    left = None if end is None else end - time.monotonic()
                    if left is not None and left <= 0:
                        raise RestError(
                            http.HTTPStatus.GATEWAY_TIMEOUT,
                            "The server is busy: the request's turn did not come in time.",
                        )
                    self._changed.wait(left)
                self._used += tokens
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()


def count_tokens(inputs: Mapping[str, np.ndarray]) -> int:
    """Tokens of a request, padding included, which determine the memory it takes.

    [B, T] inputs have B T tokens; [B, T, W] ones as many, or more where W is beyond the characters
    of a word; B texts have B times the pieces of the longest, since answers are padded.
    """
    return max(map(_tokens, inputs.values()), default=0)


def _tokens(values: np.ndarray) -> int:
    if values.ndim == 1 and values.dtype == object:
        return len(values) * max(map(_pieces, values), default=0)
    if values.ndim < 2:
        return values.size
    # An empty tensor may still say that sentences, or words, are long.
    rows, columns, *others = (max(size, 1) for size in values.shape)
    tokens = rows * columns
    return max(tokens, -(-tokens * math.prod(others) // _CHARACTERS_A_TOKEN))


def _pieces(text: bytes) -> int:
    characters = text.decode("utf-8", "replace")
    if not characters.isascii():
        characters = characters.translate(_marks())
    return count_pieces(characters)


@functools.cache
def _marks() -> dict[int, str]:
    """Combining marks, which belong to words as letters do; `re` does not know them."""
    every = range(sys.maxunicode + 1)
    return dict.fromkeys((c for c in every if unicodedata.category(chr(c))[0] == "M"), "a")
