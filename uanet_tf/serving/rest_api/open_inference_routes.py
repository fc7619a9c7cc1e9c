"""Request lines of the Open Inference Protocol, version 2."""

import dataclasses
import re
import urllib.parse

from uanet_tf.serving.rest_api.rest_error import bad_request, not_found

_MODEL = r"/v2/models/(?P<model>[^/?]+)(?:/versions/(?P<version>[0-9]{1,18}))?"
_PATTERNS = {
    "GET": (
        ("server", re.compile(r"/v2/?")),
        ("live", re.compile(r"/v2/health/live")),
        ("ready", re.compile(r"/v2/health/ready")),
        ("model_ready", re.compile(rf"{_MODEL}/ready")),
        ("model", re.compile(_MODEL)),
    ),
    "POST": (("infer", re.compile(rf"{_MODEL}/infer")),),
}


@dataclasses.dataclass(frozen=True)
class OpenInferenceRoute:
    """A parsed request line.

    Attributes:
      kind: "server", "live", "ready", "model_ready", "model" (its metadata) or "infer".
      model: name of the model; "" where none is meant.
      version: the version asked for, None for the latest.
    """

    kind: str
    model: str = ""
    version: int | None = None


def is_open_inference(target: str) -> bool:
    """Whether a path belongs to this protocol."""
    return target == "/v2" or target.startswith(("/v2/", "/v2?"))


def parse(method: str, target: str) -> OpenInferenceRoute:
    """Reads a request line; a query string is ignored.

    Raises:
      RestError: 400, another method; 404, another path.
    """
    path = target.partition("?")[0]
    for kind, pattern in _PATTERNS.get(method, ()):
        if match := pattern.fullmatch(path):
            parts = match.groupdict()
            version = parts.get("version")
            name = urllib.parse.unquote(parts.get("model") or "", errors="surrogateescape")
            return OpenInferenceRoute(kind, name, None if version is None else int(version))
    if any(pattern.fullmatch(path) for rows in _PATTERNS.values() for _, pattern in rows):
        raise bad_request(f"{target[:200]} is not to be called by {method[:20]}")
    raise not_found(f"There is no {target[:200]}")
