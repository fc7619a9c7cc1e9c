"""From a request line and a body to the answer, without any HTTP machinery."""

import dataclasses
import re
import urllib.parse
import zlib
from http import HTTPStatus
from importlib import resources
from typing import Any

from uanet_tf.serving.rest_api import json_request, json_response
from uanet_tf.serving.rest_api.model_config import MAX_VERSION
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.rest_error import (
    Answer,
    RestError,
    bad_request,
    error_answer,
    json_answer,
    unimplemented,
)
from uanet_tf.serving.rest_api.served_model import DEFAULT_SIGNATURE

_ORIGIN = re.compile(r"https?://.+")
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_API = re.compile(r"/v1/.*", re.IGNORECASE | re.DOTALL)
_VERSION = r"(?:/versions/(?P<version>[0-9]+)|/labels/(?P<label>[^/:]+))?"
_PREDICTION = re.compile(
    rf"/v1/models/(?P<name>[^/:]+){_VERSION}:(?P<verb>classify|regress|predict)", re.IGNORECASE
)
_STATUS = re.compile(
    rf"/v1/models(?:/(?P<name>[^/:]+))?{_VERSION}(?:/(?P<metadata>metadata))?", re.IGNORECASE
)
_VERBS = ("classify", "regress", "predict")


@dataclasses.dataclass(frozen=True)
class Route:
    """A parsed request line."""

    kind: str  # "predict", "classify", "regress", "status" or "metadata"
    model: str  # its name
    version: int | None = None  # the one asked for, None for the latest
    label: str | None = None  # of the version asked for


def parse_route(method: str, target: str) -> Route:
    """Reads a request line; RestError, 400, unless it is one of the API's own URLs and methods.

    ``target`` is the path as it was sent, percent-encoded, with the query string if there is one
    (TF Serving takes it for a part of the path).
    """
    pattern = {"POST": _PREDICTION, "GET": _STATUS}.get(method)
    match = pattern.fullmatch(target) if pattern else None
    if match is None:
        raise _malformed(method, target)
    parts = match.groupdict()
    # The regular expression ignores case, the verb does not: `:PREDICT` is none.
    kind = parts.get("verb") or ("metadata" if parts.get("metadata") == "metadata" else "status")
    if method == "POST" and kind not in _VERBS:
        raise _malformed(method, target)
    if parts["name"] is None:
        raise bad_request("Missing model name in request.")
    version = None
    if parts["version"] is not None:
        # TF Serving fails here before it writes a body. Python limits the digits of a number.
        digits = parts["version"].lstrip("0") or "0"
        if len(digits) > len(str(MAX_VERSION)) or int(digits) > MAX_VERSION:
            raise bad_request(None)
        version = int(digits)
    label = None if parts["label"] is None else _decode(parts["label"])
    return Route(kind, _decode(parts["name"]), version, label)


def _decode(text: str) -> str:
    return urllib.parse.unquote(text, errors="surrogateescape")


def _malformed(method: str, target: str) -> Exception:
    return bad_request(f"Malformed request: {method} {target[:200]}")


class Handler:
    """Answers requests from the models of a manager.

    Args:
      body_bytes: largest body, unpacked too (413).
      answer_seconds: longest time from a body to its answer (504); 0: no limit.
    """

    def __init__(
        self, manager: ModelManager, *, body_bytes: int = 8 << 20, answer_seconds: float = 30.0
    ) -> None:
        self._manager = manager
        self.body_bytes = body_bytes
        self.answer_seconds = answer_seconds

    def quick_answer(self, method: str, target: str, origin: str = "") -> Answer | None:
        """Answers requests that need no model, see ``parse_route``; None: ``predict`` has to."""
        path = target.partition("?")[0]
        if path in _PAGE_FILES or path == _MODELS:
            return page_answer(method, target, self._manager)
        if not _API.fullmatch(target):
            return Answer(HTTPStatus.NOT_FOUND, b"404 Not Found\n", "text/plain")
        if method == "OPTIONS":
            if _ORIGIN.fullmatch(origin):
                return Answer(HTTPStatus.OK)
            return error_answer(bad_request("Origin header is missing in CORS request"))
        try:
            route = parse_route(method, target)
            if route.kind == "status":
                return json_answer(self._status(route))
            if route.kind == "metadata":
                return json_answer(self._metadata(route))
        except RestError as error:
            return error_answer(error)
        return None

    def predict(self, target: str, body: bytes, *, gzipped: bool = False) -> Answer:
        """Answers a POST to ``:predict``, ``:classify`` or ``:regress``; may take long."""
        try:
            route = parse_route("POST", target)
            request = json_request.parse_body(self._unpack(body) if gzipped else body)
            signature = json_request.signature_name(request)
            _, model = self._manager.find(route.model, route.version, route.label)
            if route.kind != "predict":
                raise _not_predict(route.kind, model.method(signature))
            inputs = json_request.read_inputs(request, model.input_types(signature))
            outputs = model.predict(signature, inputs.tensors)
            return Answer(HTTPStatus.OK, json_response.predictions(outputs, rows=inputs.rows))
        except RestError as error:
            return error_answer(error)

    def too_large(self) -> RestError:
        """The error of a body over the limit (413)."""
        return RestError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"The body is larger than {self.body_bytes:,} bytes (--max_body_bytes).",
        )

    def too_late(self) -> RestError:
        """The error of an answer that takes too long (504)."""
        return RestError(
            HTTPStatus.GATEWAY_TIMEOUT,
            f"The answer took longer than {1000 * self.answer_seconds:.0f} ms "
            "(--rest_api_timeout_in_ms).",
        )

    def _status(self, route: Route) -> dict[str, Any]:
        return {
            "model_version_status": [
                {
                    "version": str(version),
                    "state": state.state,
                    "status": {"error_code": state.code, "error_message": state.error},
                }
                for version, state in self._manager.states(route.model, route.version)
            ]
        }

    def _metadata(self, route: Route) -> dict[str, Any]:
        version, model = self._manager.find(route.model, route.version, route.label)
        return {
            "model_spec": {"name": route.model, "signature_name": "", "version": str(version)},
            "metadata": {"signature_def": {"signature_def": model.metadata}},
        }

    def _unpack(self, body: bytes) -> bytes:
        inflater = zlib.decompressobj(_GZIP_WINDOW)
        try:
            unpacked = inflater.decompress(body, self.body_bytes + 1)
        except zlib.error:
            raise bad_request("The body is not the gzip data that its header announces.") from None
        if len(unpacked) > self.body_bytes:
            raise self.too_large()
        if not inflater.eof:
            raise bad_request("The gzip data of the body is not complete.")
        return unpacked


def _not_predict(kind: str, method: str) -> RestError:
    names = {"classify": "Classification", "regress": "Regression"}
    wanted = f"tensorflow/serving/{kind}"
    if method != wanted:
        return bad_request(f"{names[kind]} signature method_name must be {wanted}. Was: {method}")
    return unimplemented(f"This development server does not answer :{kind}, TF Serving does.")


# The page to try the served models: three files of the package, and the models as JSON.
_MODELS = "/models.json"
_PAGE_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_PAGE_METHODS = ("GET", "HEAD")
# A browser refuses all but the page's own: a model's answer cannot bring a script, and no other
# site can show the page in a frame.
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def page_answer(method: str, target: str, manager: ModelManager) -> Answer:
    """A file of the page, or the models as JSON; 405 for methods other than GET and HEAD."""
    path = target.partition("?")[0]
    if method not in _PAGE_METHODS:
        allow = {"allow": ", ".join(_PAGE_METHODS)}
        text = f"405 Method Not Allowed: {method[:20]}\n".encode()
        return Answer(HTTPStatus.METHOD_NOT_ALLOWED, text, "text/plain", _HEADERS | allow)
    if path == _MODELS:
        models = [_describe(name, manager) for name in manager.names()]
        return json_answer({"models": models})._replace(headers=_HEADERS)
    name, content_type = _PAGE_FILES[path]
    content = resources.files("uanet_tf.serving").joinpath("page", name).read_bytes()
    return Answer(HTTPStatus.OK, content, content_type, _HEADERS)


def _describe(name: str, manager: ModelManager) -> dict[str, Any]:
    """A model's versions, newest first, and of its latest one the inputs by signature and Gamma."""
    try:
        states = manager.states(name)
    except RestError:
        states = []  # none on disk so far
    try:
        _, model = manager.find(name)
        wanted = {DEFAULT_SIGNATURE, "with_threshold"} & model.metadata.keys()
        signatures = {name: sorted(model.metadata[name]["inputs"]) for name in sorted(wanted)}
        gamma = model.gamma
    except RestError:
        signatures, gamma = {}, None
    return {
        "name": name,
        "versions": [
            {"version": version, "state": state.state, "error": state.error}
            for version, state in states
        ],
        "signatures": signatures,
        "gamma": gamma,
    }
