"""Runs an application on uvicorn until a signal ends it.

The number of connections, their time without a request and the lines of the log are limited.
"""

import asyncio
import contextlib
import functools
import logging
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from uanet_tf.serving.rest_api.limits import Limits

_MOST_HEAD_BYTES = 64 << 10
_GRACE_SECONDS = 30  # for requests that have begun when the signal comes
_LOG = logging.getLogger("uvicorn.error")  # all of uvicorn's messages
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"content-type: application/json\r\ncontent-length: 40\r\nconnection: close\r\n\r\n"
    b'{"error": "Too many connections so far"}'
)


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


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with limits of its own.

    A connection is cut if it has not sent the whole head of a request within ``read_seconds``, from
    its beginning or from its last answer, or if it does not read an answer. uvicorn's own
    keep-alive limit ends with the first byte of a head.

    Args:
      read_seconds: see above.
      most_connections: a further connection gets 503 and is closed.
      **options: of uvicorn.
    """

    def __init__(self, *, read_seconds: float, most_connections: int, **options: Any) -> None:
        super().__init__(**options)
        self._read_seconds = read_seconds
        self._most_connections = most_connections
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._watch()
        if len(self.connections) > self._most_connections:
            self.transport.write(_BUSY)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Runs the timer while no request is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self._read_seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Server(uvicorn.Server):
    """Ends quietly on a signal, where uvicorn would raise the signal once more."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                signal.signal(number, self.handle_exit)
        yield


def make_server(app: ASGIApp, limits: Limits) -> Server:
    """A server for ``app`` that logs only warnings, a bounded number of them."""
    protocol = functools.partial(
        TimedProtocol, read_seconds=limits.read_seconds, most_connections=limits.connections
    )
    _LOG.filters[:] = [LineBudget()]
    config = uvicorn.Config(
        app,
        http=cast(type[TimedProtocol], protocol),
        ws="none",
        h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return Server(config)


def serve(app: ASGIApp, listener: socket.socket, limits: Limits) -> None:
    """Answers on ``listener`` until SIGTERM or SIGINT, then finishes running requests."""
    make_server(app, limits).run(sockets=[listener])
