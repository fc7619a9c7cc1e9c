"""``uanet serve``: a local server for development."""

import contextlib
import dataclasses
import functools
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from absl import logging

from uanet_tf.commands.command_flags import flag
from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.model_config import (
    TEXT_ENDING,
    ModelSettings,
    find_models,
    lite_files,
)

_BACKLOG = 2048
_CORES = os.cpu_count() or 1


@dataclasses.dataclass(frozen=True)
class Serving:
    """What is served, where, and within which limits; the names are TF Serving's."""

    model_name: str = flag("default", "Name of the model.")
    model_base_path: str | None = flag(None, "Directory of the model's versions (1/, 2/, ...).")
    export_dir: str | None = flag(
        None,
        "What export.py wrote to: every model in it is served, instead of --model_name and "
        "--model_base_path.",
    )
    host: str = flag(
        "127.0.0.1",
        "Address to listen at. There is no access control: 0.0.0.0 lets the whole network in.",
    )
    rest_api_port: int = flag(
        8501, "Port of the REST API; 0: a free one, named on stderr.", at_least=0, at_most=65535
    )
    rest_api_timeout_in_ms: int = flag(
        30_000,
        "Maximum time to an answer, milliseconds, queueing included; 0: no limit.",
        at_least=0,
    )
    file_system_poll_wait_seconds: float = flag(
        1.0, "Seconds between two checks for new versions; 0: check once.", at_least=0.0
    )
    max_body_bytes: int = flag(
        8 << 20, "Maximum size of a request's body, bytes; larger ones get 413.", at_least=1
    )


def serve(how: Serving) -> None:
    """A local server for development that speaks TF Serving's REST API; production is TF Serving.

        uanet serve --export_dir=exports

    It answers predict, status and metadata requests as tensorflow_model_server does, loads new
    versions as they appear, and needs no Docker. A version is a SavedModel, or a folder with a
    TensorFlow Lite file, for which TensorFlow is not loaded. It is meant for tests, notebooks and
    laptops: one Python process, no gRPC, no request batching, no access control. Its flags are TF
    Serving's, except for --export_dir, --host and --max_body_bytes.
    """
    models = _models(how)
    with contextlib.closing(_bind(how)) as listener:
        _serve(how, models, listener)


def _models(how: Serving) -> list[ModelSettings]:
    path = how.model_base_path
    if (how.export_dir is None) == (path is None):
        raise InputError("Name the models by one of --export_dir and --model_base_path.")
    if path is None:
        return find_models(str(how.export_dir))
    if not os.path.isdir(path):
        raise InputError(f"{path}: the base path of {how.model_name} is no directory.")
    return [ModelSettings(how.model_name, os.path.abspath(path))]


def _bind(how: Serving) -> socket.socket:
    """A socket that listens at the address; connections wait until the models are loaded."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            how.host, how.rest_api_port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        where = f"--host={how.host} --rest_api_port={how.rest_api_port}"
        raise InputError(f"{where}: cannot listen there ({error.strerror}).") from None
    return listener


def _serve(how: Serving, models: list[ModelSettings], listener: socket.socket) -> None:
    """Runs the server until SIGTERM or SIGINT; then running requests are finished."""
    # The web server, and later TensorFlow, are loaded only for good arguments.
    from uanet_tf.serving.rest_api.app import make_app, serve
    from uanet_tf.serving.rest_api.handler import Handler
    from uanet_tf.serving.rest_api.model_manager import ModelManager

    poll_seconds = how.file_system_poll_wait_seconds
    manager = ModelManager(models, functools.partial(_load, how), poll_seconds=poll_seconds)
    manager.start()
    if poll_seconds == 0 and (error := manager.first_error()):
        raise InputError(error)
    seconds = how.rest_api_timeout_in_ms / 1000
    handler = Handler(manager, body_bytes=how.max_body_bytes, answer_seconds=seconds)
    with ThreadPoolExecutor(2 * _CORES, "predict") as executor:

        def say() -> None:
            waits = manager.first_error()  # which has been told
            begun = "Nothing to serve yet, waiting for it, at" if waits else "Served at"
            logging.info("%s %s/v1/models/%s", begun, _url(listener), models[0].name)
            logging.info("Try it in a browser: %s/", _url(listener))

        serve(make_app(handler, executor), listener, say)
        executor.shutdown(wait=False, cancel_futures=True)
    manager.stop()


def _load(how: Serving, path: str, name: str) -> Any:
    """Makes a model of a version's directory."""
    from uanet_tf.serving.rest_api.lite_model import LiteModel

    if lite_files(path):
        return LiteModel(path, text=name.endswith(TEXT_ENDING), threads=_CORES)
    try:  # TensorFlow, only for those who need it
        from uanet_tf.serving.rest_api.loaded_model import LoadedModel
    except ImportError:
        raise InputError(
            f"{path}: is no TensorFlow Lite file, and SavedModels need TensorFlow, which is not "
            "installed."
        ) from None
    return LoadedModel(path, timeout_ms=how.rest_api_timeout_in_ms)


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
