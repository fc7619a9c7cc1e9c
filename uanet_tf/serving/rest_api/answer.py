"""HTTP answers."""

import json
from http import HTTPStatus
from typing import Any, NamedTuple

from uanet_tf.serving.rest_api.rest_error import RestError

JSON = "application/json"


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = JSON


def error_answer(error: RestError) -> Answer:
    """``{"error": "..."}`` with the error's code."""
    if error.message is None:
        return Answer(error.status)
    return Answer(error.status, json.dumps({"error": error.message}).encode("ascii"))


def json_answer(value: dict[str, Any], status: int = HTTPStatus.OK) -> Answer:
    """A JSON object."""
    return Answer(status, json.dumps(value, indent=1).encode("ascii"))
