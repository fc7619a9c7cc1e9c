"""The page to try the served models: three files of the package, and two lists as JSON.

The page has no secrets and no scripts but its own. Its headers make a browser refuse all else: a
model's answer cannot bring a script, and no other site can show the page in a frame.
"""

import functools
from collections.abc import Mapping
from http import HTTPStatus
from importlib import resources
from typing import Any

from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.rest_error import Answer, RestError, json_answer
from uanet_tf.serving.rest_api.served_model import DEFAULT_SIGNATURE

MODELS, MONITORING = "/models.json", "/monitoring"
_FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_METHODS = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def is_page(target: str) -> bool:
    """Whether a path, query string included, belongs to the page."""
    path = target.partition("?")[0]
    return path in _FILES or path in (MODELS, MONITORING)


def page_answer(method: str, target: str, manager: ModelManager) -> Answer:
    """A file of the page, or a list as JSON; 405 for methods other than GET and HEAD."""
    path = target.partition("?")[0]
    if method not in _METHODS:
        allow = {"allow": ", ".join(_METHODS)}
        text = f"405 Method Not Allowed: {method[:20]}\n".encode()
        return Answer(HTTPStatus.METHOD_NOT_ALLOWED, text, "text/plain", HEADERS | allow)
    if path == MODELS:
        models = [_describe(name, manager) for name in manager.names()]
        return json_answer({"models": models})._replace(headers=HEADERS)
    if path == MONITORING:
        reports = [_watched(name, manager) for name in manager.names()]
        return json_answer({"models": reports})._replace(headers=HEADERS)
    name, content_type = _FILES[path]
    return Answer(HTTPStatus.OK, _read(name), content_type, HEADERS)


@functools.cache
def _read(name: str) -> bytes:
    return resources.files("uanet_tf.serving").joinpath("page", name).read_bytes()


def _describe(name: str, manager: ModelManager) -> dict[str, Any]:
    """A model's versions, newest first, and of its latest one the inputs by signature and Gamma."""
    try:
        states = manager.states(name)
    except RestError:
        states = []  # none on disk so far
    try:
        _, model = manager.find(name)
        signatures, gamma = _inputs(model.metadata), model.gamma
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


def _watched(name: str, manager: ModelManager) -> dict[str, Any]:
    """What the latest version was asked, compared with its development data; null: no such data."""
    try:
        version, model = manager.find(name)
    except RestError:
        return {"name": name, "version": None, "monitoring": None}
    report = None if model.monitor is None else model.monitor.report()
    return {"name": name, "version": version, "monitoring": report}


def _inputs(metadata: Mapping[str, Any]) -> dict[str, list[str]]:
    wanted = (DEFAULT_SIGNATURE, "with_threshold")
    return {name: sorted(metadata[name]["inputs"]) for name in wanted if name in metadata}
