"""The HTTP side: a Starlette application that reads bodies and keeps the event loop free."""

import asyncio
import http
import re
import threading
from concurrent.futures import Executor

from absl import logging
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from uanet_tf.serving.rest_api.handler import Handler
from uanet_tf.serving.rest_api.limits import Limits
from uanet_tf.serving.rest_api.rest_error import Answer, RestError, error_answer

# Bytes of a body over the limit that are read and dropped, so that a sender that writes before
# it reads receives the answer.
_MOST_DISCARDED = 64 << 20
_BODY_UNREAD = (http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE, http.HTTPStatus.REQUEST_TIMEOUT)


def make_app(handler: Handler, executor: Executor, limits: Limits) -> Starlette:
    """The application.

    Args:
      handler: answers.
      executor: a bounded pool of threads, in which models run.
      limits: sizes and times.
    """
    endpoint = _Endpoint(handler, executor, limits)
    # An object, not a function: Starlette then passes all methods to it.
    routes = [Route("/{path:path}", endpoint)]
    middleware = [Middleware(_OriginForm)]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={Exception: _fault})


class _OriginForm:
    """Takes scheme and host from a target that is a whole URL.

    Clients send one to a proxy; every server has to accept it (RFC 9112, 3.2.2).
    """

    _HOST = re.compile(rb"\Ahttps?://[^/]*", re.IGNORECASE)

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = self._HOST.sub(b"", scope["raw_path"], count=1) or b"/"
            if path != scope["raw_path"]:
                scope = {**scope, "raw_path": path, "path": path.decode("latin-1")}
        await self._app(scope, receive, send)


class _Endpoint:
    """Answers one request."""

    def __init__(self, handler: Handler, executor: Executor, limits: Limits) -> None:
        self._handler = handler
        self._executor = executor
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except ClientDisconnect:
            return
        headers = {"content-type": answer.content_type, **answer.headers}
        if answer.status in _BODY_UNREAD:
            headers["connection"] = "close"
        await Response(answer.body, answer.status, headers)(scope, receive, send)

    async def _answer(self, request: Request) -> Answer:
        target = _target(request.scope)
        try:
            async with asyncio.timeout(self._limits.read_seconds):
                body = await self._body(request)
        except TimeoutError:
            return error_answer(self._handler.too_slow())
        if body is None:
            return error_answer(self._handler.too_large())
        answer = self._handler.quick_answer(
            request.method, target, request.headers.get("origin", "")
        )
        if answer is None:
            gzipped = "gzip" in request.headers.get("content-encoding", "").lower()
            answer = await self._predict(request, target, body, gzipped)
        logging.vlog(1, "%s %s: %d", request.method, target[:200], answer.status)
        return answer

    async def _predict(self, request: Request, target: str, body: bytes, gzipped: bool) -> Answer:
        """Runs the model, in its turn; a run that takes too long continues unawaited.

        Raises:
          ClientDisconnect: the client went away first.
        """
        unwanted = threading.Event()
        run = asyncio.get_running_loop().run_in_executor(
            self._executor,
            lambda: self._handler.predict(target, body, gzipped=gzipped, unwanted=unwanted),
        )
        gone = asyncio.ensure_future(_gone(request))
        try:
            async with asyncio.timeout(self._limits.answer_seconds or None):
                await asyncio.wait((run, gone), return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                raise ClientDisconnect
            return run.result()
        except TimeoutError:
            return error_answer(self._handler.too_late())
        finally:
            # One that still waits, for a thread or for its turn, never runs a model.
            unwanted.set()
            run.cancel()
            gone.cancel()

    async def _body(self, request: Request) -> bytes | None:
        """The body; None if it is over the limit."""
        pieces, size = [], 0
        async for piece in request.stream():
            size += len(piece)
            if size <= self._limits.body_bytes:
                pieces.append(piece)
            else:
                pieces.clear()
                if size > _MOST_DISCARDED + self._limits.body_bytes:
                    break
        return b"".join(pieces) if size <= self._limits.body_bytes else None


async def _gone(request: Request) -> None:
    """Returns when the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _target(scope: Scope) -> str:
    """Path and query string as they were sent."""
    query = scope["query_string"]
    return (scope["raw_path"] + (b"?" + query if query else b"")).decode("latin-1")


async def _fault(request: Request, error: Exception) -> Response:
    """An unexpected error: reported in JSON; the server logs it and continues."""
    del request
    answer = error_answer(RestError(500, f"Internal error: {type(error).__name__}"))
    return Response(answer.body, answer.status, {"content-type": answer.content_type})
