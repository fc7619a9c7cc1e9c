"""Runs an application on uvicorn until a signal ends it."""

import contextlib
import functools
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from uanet_tf.serving.rest_api.limits import Limits
from uanet_tf.serving.rest_api.line_budget import LineBudget
from uanet_tf.serving.rest_api.timed_protocol import TimedProtocol

_MOST_HEAD_BYTES = 64 << 10
_GRACE_SECONDS = 30  # for requests that have begun when the signal comes
_LOG = logging.getLogger("uvicorn.error")  # all of uvicorn's messages
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
