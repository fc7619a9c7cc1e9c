"""Predict calls over TF Serving's REST API."""

import http
import json
import threading
import urllib.parse
from typing import Any

import requests
import urllib3

from uanet_tf.serving.errors import ServingError

# Overloaded, not ready yet, or too slow this time; other errors are not tried again.
_RETRYABLE_CODES = (429, 503, 504)
_CONNECT_SECONDS = 5.0
_SHOWN = 300


class RestTransport:
    """Calls ``URL/v1/models/NAME:predict``; may be used from several threads.

    Args:
      url: of the server, such as "http://127.0.0.1:8501".
      timeout: seconds to wait for an answer.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self._url = url.rstrip("/")
        self._timeout = (min(_CONNECT_SECONDS, timeout), timeout)
        self._local = threading.local()

    def predict(self, model: str, signature: str, inputs: dict[str, list]) -> dict[str, list]:
        """Outputs by name, as nested lists.

        Args:
          model: its name.
          signature: its name.
          inputs: nested lists by input name; the batch comes first.

        Raises:
          ServingError: see there.
        """
        url = f"{self._url}/v1/models/{urllib.parse.quote(model, safe='')}:predict"
        body = json.dumps({"signature_name": signature, "inputs": inputs}).encode("ascii")
        try:
            response = self._session().post(
                url,
                data=body,
                headers={"Content-Type": "application/json"},
                timeout=self._timeout,
            )
        except requests.RequestException as error:
            raise self._failure(error) from error
        return _outputs(response, f"{self._url} ({model})")

    def close(self) -> None:
        """Closes this thread's connection."""
        session = self._local.__dict__.pop("session", None)
        if session is not None:
            session.close()

    def _session(self) -> requests.Session:
        # A session keeps its connection open, and is meant for one thread.
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        return self._local.session

    def _failure(self, error: requests.RequestException) -> ServingError:
        if isinstance(error, requests.Timeout):
            return ServingError(
                f"{self._url}: no answer within {self._timeout[1]:g} s.", retryable=True
            )
        reason = getattr(error.args[0], "reason", None) if error.args else None
        if isinstance(reason, urllib3.exceptions.NameResolutionError):
            return ServingError(f"{self._url}: no such host.")
        if isinstance(error, requests.exceptions.SSLError | requests.exceptions.ProxyError):
            return ServingError(f"{self._url}: {_short(error)}")
        if isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError):
            refused = isinstance(reason, urllib3.exceptions.NewConnectionError)
            what = "no connection, is a server running there?" if refused else "connection lost."
            return ServingError(f"{self._url}: {what}", retryable=True)
        return ServingError(f"{self._url}: {_short(error)}")


def _outputs(response: requests.Response, where: str) -> dict[str, Any]:
    code = response.status_code
    try:
        # Labels may hold any bytes; a stray one must not lose the answer.
        body = json.loads(response.content.decode("utf-8", "replace"))
    except ValueError:
        body = None
    if code != http.HTTPStatus.OK:
        told = body.get("error") if isinstance(body, dict) else None
        reason = " ".join(str(told or response.reason or "").split())[:_SHOWN]
        raise ServingError(
            f"{where}: error {code}, {reason}", status=code, retryable=code in _RETRYABLE_CODES
        )
    if not isinstance(body, dict) or not isinstance(body.get("outputs"), dict):
        raise ServingError(f"{where}: the answer is not that of a tagger.", status=code)
    return body["outputs"]


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:_SHOWN] or type(error).__name__
