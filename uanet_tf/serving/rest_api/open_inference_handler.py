"""Answers of the Open Inference Protocol, from the models of a manager."""

import importlib.metadata
import threading
from collections.abc import Callable
from http import HTTPStatus

import numpy as np

from uanet_tf.serving.rest_api.answer import Answer, error_answer, json_answer
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.open_inference import (
    describe,
    read_request,
    read_tensors,
    write_response,
)
from uanet_tf.serving.rest_api.open_inference_routes import parse
from uanet_tf.serving.rest_api.rest_error import RestError
from uanet_tf.serving.rest_api.served_model import ServedModel

SERVER = "uanet_tf"
Tensors = dict[str, np.ndarray]
Run = Callable[[ServedModel, str, Tensors, threading.Event | None], Tensors]


class OpenInferenceHandler:
    """Answers requests below ``/v2``.

    Args:
      manager: the models.
      run: runs a signature of a model within the server's limits.
      unpack: gives the contents of a gzip body.
    """

    def __init__(self, manager: ModelManager, run: Run, unpack: Callable[[bytes], bytes]) -> None:
        self._manager = manager
        self._run = run
        self._unpack = unpack

    def quick_answer(self, method: str, target: str) -> Answer | None:
        """Answers requests that run no model; None: ``infer`` has to."""
        try:
            route = parse(method, target)
            if route.kind == "infer":
                return None
            if route.kind == "server":
                return json_answer({"name": SERVER, "version": _version(), "extensions": []})
            if route.kind == "live":
                return json_answer({"live": True})
            if route.kind == "ready":
                ready = self._manager.is_ready()
                status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
                return json_answer({"ready": ready}, status)
            with self._manager.use(route.model, route.version) as (_, model):
                if route.kind == "model_ready":
                    return json_answer({"name": route.model, "ready": True})
                versions = self._manager.loaded_versions(route.model)
                return json_answer(describe(route.model, versions, model))
        except RestError as error:
            return error_answer(error)

    def infer(
        self,
        target: str,
        body: bytes,
        *,
        gzipped: bool = False,
        unwanted: threading.Event | None = None,
    ) -> Answer:
        """Answers a POST to ``infer``; may take long.

        Args:
          target: path as it was sent.
          body: of the request.
          gzipped: whether the body is.
          unwanted: set, as soon as nobody waits for the answer: then no model is run for it.
        """
        try:
            route = parse("POST", target)
            request = read_request(self._unpack(body) if gzipped else body)
            del body  # a large one would be kept while the model runs
            with self._manager.use(route.model, route.version) as (version, model):
                types = model.input_types(request.signature)
                tensors = read_tensors(request.inputs, types)
                request.inputs.clear()
                outputs = self._run(model, request.signature, tensors, unwanted)
            return Answer(HTTPStatus.OK, write_response(outputs, request, route.model, version))
        except RestError as error:
            return error_answer(error)


def _version() -> str:
    try:
        return importlib.metadata.version(SERVER)
    except importlib.metadata.PackageNotFoundError:  # a source that is not installed
        return "unknown"
