"""HTTP connections with a limit on their number, and on time without a request."""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\n"
    b"content-type: application/json\r\ncontent-length: 40\r\nconnection: close\r\n\r\n"
    b'{"error": "Too many connections so far"}'
)


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
