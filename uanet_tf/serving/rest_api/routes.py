"""From method and path to the request and its model."""

import dataclasses
import re
import urllib.parse

from uanet_tf.serving.rest_api.rest_error import bad_request

MAX_VERSION = 2**63 - 1

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
    """A parsed request line.

    Attributes:
      kind: "predict", "classify", "regress", "status" or "metadata".
      model: name of the model.
      version: the version asked for, None for the latest.
      label: the version label asked for.
    """

    kind: str
    model: str
    version: int | None = None
    label: str | None = None


def is_api(target: str) -> bool:
    """Whether a path belongs to the API; any other gets a plain 404."""
    return _API.fullmatch(target) is not None


def parse(method: str, target: str) -> Route:
    """Reads a request line.

    Args:
      method: "GET", "POST", ...
      target: path as it was sent, percent-encoded, with the query string if there is one
        (TF Serving takes it for a part of the path).

    Raises:
      RestError: 400, for anything else than the API's own URLs and methods.
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
