"""Predict calls over TF Serving's REST API."""

import http
import json
import re
import threading
import urllib.parse
from typing import Any

import requests
import urllib3

from uanet_tf.serving.retrying import ServingError, in_short

# Overloaded, not ready yet, or too slow this time; other errors are not tried again.
_RETRYABLE_CODES = (429, 503, 504)
# With the same request; with the others a client goes on without its body.
_FOLLOWED, _MOST_REDIRECTS = (307, 308), 5
_REDIRECTS = (301, 302, 303, *_FOLLOWED)
_CONNECT_SECONDS = 5.0


class RestTransport:
    """Calls ``URL/v1/models/NAME:predict``; may be used from several threads.

    ``url`` is that of the server, such as "http://127.0.0.1:8501".
    """

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url.rstrip("/")
        # Messages are kept in logs: no user and password.
        self._shown = re.sub(r"//[^/]*@", "//", self._url)
        self._timeout = (min(_CONNECT_SECONDS, timeout), timeout)
        self._local = threading.local()

    def predict(self, model: str, signature: str, inputs: dict[str, list]) -> dict[str, list]:
        """Outputs by name of inputs by name, nested lists with the batch first; or ServingError."""
        url = f"{self._url}/v1/models/{urllib.parse.quote(model, safe='')}:predict"
        body = json.dumps({"signature_name": signature, "inputs": inputs}).encode("ascii")
        try:
            response = self._post(url, body)
            for _ in range(_MOST_REDIRECTS):
                if response.status_code not in _FOLLOWED or "Location" not in response.headers:
                    break
                url = urllib.parse.urljoin(url, response.headers["Location"])
                response = self._post(url, body)
        except (OSError, urllib3.exceptions.HTTPError) as error:  # OSError: requests' own too
            raise self._failure(error) from error
        return _outputs(response, f"{self._shown} ({model})")

    def _post(self, url: str, body: bytes) -> requests.Response:
        # A session keeps its connection open, and is meant for one thread.
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        headers = {"Content-Type": "application/json"}
        return self._local.session.post(
            url, data=body, headers=headers, timeout=self._timeout, allow_redirects=False
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process has connections of its own.
        return type(self), (self._url, self._timeout[1])

    def close(self) -> None:
        """Closes this thread's connection."""
        session = self._local.__dict__.pop("session", None)
        if session is not None:
            session.close()

    def _failure(self, error: Exception) -> ServingError:
        if isinstance(error, requests.Timeout):
            return ServingError(
                f"{self._shown}: no answer within {self._timeout[1]:g} s.", retryable=True
            )
        reason = getattr(error.args[0], "reason", None) if error.args else None
        if isinstance(reason, urllib3.exceptions.NameResolutionError):
            return ServingError(f"{self._shown}: no such host.")
        if isinstance(error, requests.exceptions.ProxyError):
            return ServingError(
                f"{self._shown}: no connection through the proxy that the environment names "
                f"(HTTP_PROXY, NO_PROXY, ...): {_short(getattr(reason, 'original_error', error))}"
            )
        if isinstance(error, requests.exceptions.SSLError):
            return ServingError(f"{self._shown}: {_short(reason or error)}")
        if isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError):
            refused = isinstance(reason, urllib3.exceptions.NewConnectionError)
            what = "no connection, is a server running there?" if refused else "connection lost."
            return ServingError(f"{self._shown}: {what}", retryable=True)
        return ServingError(f"{self._shown}: {_short(error)}")


def _outputs(response: requests.Response, where: str) -> dict[str, Any]:
    code = response.status_code
    try:
        # Labels may hold any bytes; a stray one must not lose the answer.
        body = json.loads(response.content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        body = None
    if code in _REDIRECTS and response.headers.get("Location"):
        raise ServingError(
            f"{where}: error {code}, the server is at another address: "
            f"{_short(response.headers['Location'])}",
            status=code,
        )
    if code != http.HTTPStatus.OK:
        told = body.get("error") if isinstance(body, dict) else None
        raise ServingError(
            f"{where}: error {code}, {in_short(told or response.reason or '')}",
            status=code,
            retryable=code in _RETRYABLE_CODES,
        )
    if not isinstance(body, dict) or not isinstance(body.get("outputs"), dict):
        raise ServingError(f"{where}: the answer is not that of a tagger.", status=code)
    return body["outputs"]


def _short(error: object) -> str:
    return in_short(error) or type(error).__name__
