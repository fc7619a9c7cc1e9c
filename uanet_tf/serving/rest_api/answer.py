"""HTTP answers."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

from uanet_tf.serving.rest_api.rest_error import RestError

JSON = "application/json"


class Answer(NamedTuple):
    """An HTTP answer; ``headers`` are those beside the content type."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = MappingProxyType({})


def error_answer(error: RestError) -> Answer:
    """``{"error": "..."}`` with the error's code."""
    if error.message is None:
        return Answer(error.status)
    return Answer(error.status, json.dumps({"error": error.message}).encode("ascii"))


def json_answer(value: dict[str, Any], status: int = HTTPStatus.OK) -> Answer:
    """A JSON object."""
    return Answer(status, json.dumps(value, indent=1).encode("ascii"))
