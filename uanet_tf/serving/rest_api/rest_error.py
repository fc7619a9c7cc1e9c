"""HTTP answers of the REST API, errors and their codes among them."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple

# TensorFlow's status codes (tf.errors.*, error_code) as TF Serving answers them.
_HTTP_CODES = {
    1: 499,  # cancelled; nginx's "client closed request"
    2: 500,  # unknown
    3: 400,  # invalid argument
    4: 504,  # deadline exceeded
    5: 404,  # not found
    6: 409,  # already exists
    7: 403,  # permission denied
    8: 429,  # resource exhausted
    9: 400,  # failed precondition
    10: 409,  # aborted
    11: 400,  # out of range
    12: 501,  # unimplemented
    13: 500,  # internal
    14: 503,  # unavailable
    15: 500,  # data loss
    16: 401,  # unauthenticated
}


class RestError(Exception):
    """A request that is answered with an error.

    Attributes:
      status: HTTP status code.
      message: the text of the answer's "error"; None: an answer without a body.
    """

    def __init__(self, status: int, message: str | None) -> None:
        super().__init__(message or HTTPStatus(status).phrase)
        self.status = status
        self.message = message


def bad_request(message: str | None) -> RestError:
    """The request is wrong (400)."""
    return RestError(HTTPStatus.BAD_REQUEST, message)


def not_found(message: str) -> RestError:
    """The model or version is not there (404)."""
    return RestError(HTTPStatus.NOT_FOUND, message)


def unimplemented(message: str) -> RestError:
    """TF Serving does not do that, or this server does not (501)."""
    return RestError(HTTPStatus.NOT_IMPLEMENTED, message)


def from_tensorflow(code: int, message: str) -> RestError:
    """The answer to an error of TensorFlow, by its status code."""
    return RestError(_HTTP_CODES.get(code, 500), message)


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
