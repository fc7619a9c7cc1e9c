"""The HTTP side: a Starlette application on uvicorn that keeps the event loop free."""

import asyncio
import contextlib
import functools
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor

import uvicorn
from absl import logging
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from uanet_tf.serving.rest_api.handler import Handler
from uanet_tf.serving.rest_api.rest_error import Answer, RestError, error_answer

_GRACE_SECONDS = 30  # for requests that have begun when the signal comes
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def make_app(handler: Handler, executor: Executor) -> Starlette:
    """The application."""
    # An object, not a function: Starlette then passes all methods to it.
    routes = [Route("/{path:path}", _Endpoint(handler, executor))]
    return Starlette(routes=routes, exception_handlers={Exception: _fault})


class _Endpoint:
    """Answers one request."""

    def __init__(self, handler: Handler, executor: Executor) -> None:
        self._handler = handler
        self._executor = executor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(Request(scope, receive))
        except ClientDisconnect:
            return
        await _response(answer)(scope, receive, send)

    async def _answer(self, request: Request) -> Answer:
        target = _target(request.scope)
        body = await self._body(request)
        if body is None:
            return error_answer(self._handler.too_large())
        origin = request.headers.get("origin", "")
        answer = self._handler.quick_answer(request.method, target, origin)
        if answer is None:
            gzipped = "gzip" in request.headers.get("content-encoding", "").lower()
            answer = await self._predict(target, body, gzipped)
        logging.vlog(1, "%s %s: %d", request.method, target[:200], answer.status)
        return answer

    async def _predict(self, target: str, body: bytes, gzipped: bool) -> Answer:
        """Runs the model in a thread; a run that takes too long continues unawaited."""
        predict = functools.partial(self._handler.predict, target, body, gzipped=gzipped)
        run = asyncio.get_running_loop().run_in_executor(self._executor, predict)
        try:
            # One that still waits for a thread then never runs.
            return await asyncio.wait_for(run, self._handler.answer_seconds or None)
        except TimeoutError:
            return error_answer(self._handler.too_late())

    async def _body(self, request: Request) -> bytes | None:
        """The body; None if it is over the limit: the rest is read, so that the sender listens."""
        pieces, size = [], 0
        async for piece in request.stream():
            size += len(piece)
            if size <= self._handler.body_bytes:
                pieces.append(piece)
        return b"".join(pieces) if size <= self._handler.body_bytes else None


def _target(scope: Scope) -> str:
    """Path and query string as they were sent."""
    query = scope["query_string"]
    return (scope["raw_path"] + (b"?" + query if query else b"")).decode("latin-1")


def _response(answer: Answer) -> Response:
    headers = {"content-type": answer.content_type, **answer.headers}
    return Response(answer.body, answer.status, headers)


async def _fault(request: Request, error: Exception) -> Response:
    """An unexpected error: reported in JSON; the server logs it and continues."""
    del request
    return _response(error_answer(RestError(500, f"Internal error: {type(error).__name__}")))


class Server(uvicorn.Server):
    """Says when it listens; ends quietly on a signal, where uvicorn would raise it once more."""

    say_listening: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        if self.say_listening is not None:
            self.say_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                signal.signal(number, self.handle_exit)
        yield


def make_server(app: ASGIApp) -> Server:
    """A server for ``app`` that logs only warnings."""
    config = uvicorn.Config(
        app,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return Server(config)


def serve(app: ASGIApp, listener: socket.socket, say_listening: Callable[[], None]) -> None:
    """Answers on ``listener`` until SIGTERM or SIGINT, then finishes running requests."""
    server = make_server(app)
    server.say_listening = say_listening
    server.run(sockets=[listener])
