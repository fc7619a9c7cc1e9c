"""A local server for development that speaks TF Serving's REST API; production is TF Serving.

    uanet serve --export_dir=exports

It answers predict, status and metadata requests as tensorflow_model_server does, loads new
versions as they appear, and needs no Docker. A version is a SavedModel, or a folder with a
TensorFlow Lite file, for which TensorFlow is not loaded. It is meant for tests, notebooks and
laptops: one Python process, no gRPC, no request batching, no access control. Its flags are TF
Serving's, except for --export_dir, --host and the limits --max_*, --read_timeout_seconds.
"""

import contextlib
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from absl import flags, logging

from uanet_tf.commands import runner
from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.limits import Limits
from uanet_tf.serving.rest_api.model_config import (
    TEXT_ENDING,
    ModelSettings,
    find_models,
    lite_files,
    read_model_config,
)

FLAGS = flags.FlagValues()
flags.DEFINE_string("model_name", "default", "Name of the model.", flag_values=FLAGS)
flags.DEFINE_string(
    "model_base_path", None, "Directory of the model's versions (1/, 2/, ...).", flag_values=FLAGS
)
flags.DEFINE_string(
    "model_config_file",
    None,
    "Text protocol buffer that names several models, see serving/models.config; takes the place "
    "of --model_name and --model_base_path.",
    flag_values=FLAGS,
)
flags.DEFINE_string(
    "export_dir",
    None,
    "What export.py wrote to: every model in it is served, instead of --model_name, "
    "--model_base_path and --model_config_file.",
    flag_values=FLAGS,
)
flags.DEFINE_string(
    "host",
    "127.0.0.1",
    "Address to listen at. There is no access control: 0.0.0.0 lets the whole network in.",
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "rest_api_port",
    8501,
    "Port of the REST API; 0: a free one, named on stderr.",
    lower_bound=0,
    upper_bound=65535,
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "rest_api_timeout_in_ms",
    30_000,
    "Longest time to an answer, milliseconds, waiting included; 0: no limit.",
    lower_bound=0,
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "rest_api_num_threads",
    2 * (os.cpu_count() or 1),
    "Requests that are processed at once; others wait.",
    lower_bound=1,
    flag_values=FLAGS,
)
flags.DEFINE_float(
    "file_system_poll_wait_seconds",
    1.0,
    "Seconds between two checks for new versions; 0: check once.",
    lower_bound=0.0,
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "max_body_bytes",
    8 << 20,
    "Largest body of a request; a larger one gets 413.",
    lower_bound=1,
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "max_tokens_per_request",
    4096,
    "Most tokens of a request, padding included: bounds memory; one with more is answered with "
    "400. All requests that run at once have no more together; others wait.",
    lower_bound=1,
    flag_values=FLAGS,
)
flags.DEFINE_integer(
    "max_connections",
    512,
    "Most connections at once; a further one gets 503.",
    lower_bound=1,
    flag_values=FLAGS,
)
flags.DEFINE_float(
    "read_timeout_seconds",
    30.0,
    "Longest time for the head and for the body of a request, and for taking an answer.",
    lower_bound=0.1,
    flag_values=FLAGS,
)
flags.DEFINE_boolean(
    "enable_model_warmup",
    True,
    "Play the requests in assets.extra/tf_serving_warmup_requests before a version serves.",
    flag_values=FLAGS,
)
for _name, _what in (
    ("intra", "Threads of one operation; with a TensorFlow Lite file, sentences at once"),
    ("inter", "Operations at once"),
):
    flags.DEFINE_integer(
        f"tensorflow_{_name}_op_parallelism",
        0,
        f"{_what}; 0: as many as TensorFlow chooses, or as there are cores.",
        lower_bound=0,
        flag_values=FLAGS,
    )

_BACKLOG = 2048


def main() -> None:
    """Serves until SIGTERM or SIGINT, then finishes running requests and ends with code 0."""
    models = _models()
    with contextlib.closing(_bind()) as listener:
        if not _serve(models, listener):
            # A load that does not end holds a thread in TensorFlow, which must not be shut down
            # under it.
            sys.stderr.flush()
            os._exit(0)


def _models() -> list[ModelSettings]:
    sources = ("export_dir", "model_base_path", "model_config_file")
    if sum(FLAGS[name].value is not None for name in sources) != 1:
        raise InputError(
            "Name the models by one of --export_dir, --model_base_path and --model_config_file."
        )
    if FLAGS.export_dir is not None:
        models = find_models(FLAGS.export_dir)
    elif FLAGS.model_config_file is not None:
        models = read_model_config(FLAGS.model_config_file)
    else:
        models = [ModelSettings(FLAGS.model_name, os.path.abspath(FLAGS.model_base_path))]
    for model in models:
        if not os.path.isdir(model.base_path):
            raise InputError(f"{model.base_path}: the base path of {model.name} is no directory.")
    return models


def _bind() -> socket.socket:
    """A socket at the address, closed to connections until the models are loaded."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            FLAGS.host, FLAGS.rest_api_port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise _cannot_listen(error) from None
    return listener


def _listen(listener: socket.socket) -> None:
    """Opens it to connections; another process that was bound there may have done so first."""
    try:
        listener.listen(_BACKLOG)
    except OSError as error:
        raise _cannot_listen(error) from None


def _cannot_listen(error: OSError) -> InputError:
    return InputError(
        f"--host={FLAGS.host} --rest_api_port={FLAGS.rest_api_port}: cannot listen there "
        f"({error.strerror})."
    )


def _serve(models: list[ModelSettings], listener: socket.socket) -> bool:
    """Runs the server to its end; False if a load is still going on."""
    # The web server, and later TensorFlow, are loaded only for good arguments.
    from uanet_tf.serving.rest_api.app import make_app
    from uanet_tf.serving.rest_api.handler import Handler
    from uanet_tf.serving.rest_api.model_manager import ModelManager
    from uanet_tf.serving.rest_api.web_server import serve

    poll_seconds, limits = FLAGS.file_system_poll_wait_seconds, _limits()
    manager = ModelManager(models, _load, poll_seconds=poll_seconds)
    manager.start()
    if poll_seconds == 0 and (error := manager.first_error()):
        raise InputError(error)
    handler = Handler(manager, limits)
    with ThreadPoolExecutor(FLAGS.rest_api_num_threads, "predict") as executor:
        app = make_app(handler, executor, limits)
        _listen(listener)
        logging.info("Serving at %s/v1/models/%s", _url(listener), models[0].name)
        logging.info("Try it in a browser: %s/", _url(listener))
        serve(app, listener, limits)
        executor.shutdown(wait=False, cancel_futures=True)
    return manager.stop()


def _limits() -> Limits:
    return Limits(
        body_bytes=FLAGS.max_body_bytes,
        tokens=FLAGS.max_tokens_per_request,
        answer_seconds=FLAGS.rest_api_timeout_in_ms / 1000,
        read_seconds=FLAGS.read_timeout_seconds,
        connections=FLAGS.max_connections,
    )


def _load(path: str, name: str) -> Any:
    """Makes a model of a version's directory, warmed up."""
    from uanet_tf.serving.rest_api.lite_model import LiteModel

    if not lite_files(path):
        return _load_saved_model(path)
    return LiteModel(
        path,
        text=name.endswith(TEXT_ENDING),
        threads=FLAGS.tensorflow_intra_op_parallelism or os.cpu_count() or 1,
        timeout_ms=FLAGS.rest_api_timeout_in_ms,
    )


def _load_saved_model(path: str) -> Any:
    # TensorFlow, only for those who need it.
    try:
        from tensorflow.core.protobuf import config_pb2
    except ImportError:
        raise InputError(
            f"{path}: is no TensorFlow Lite file, and SavedModels need TensorFlow, which is not "
            "installed."
        ) from None
    from uanet_tf.serving.rest_api.loaded_model import LoadedModel, warm_up

    session_config = config_pb2.ConfigProto(
        intra_op_parallelism_threads=FLAGS.tensorflow_intra_op_parallelism,
        inter_op_parallelism_threads=FLAGS.tensorflow_inter_op_parallelism,
        allow_soft_placement=True,
    )
    session_config.gpu_options.allow_growth = True
    model = LoadedModel(path, session_config, timeout_ms=FLAGS.rest_api_timeout_in_ms)
    if FLAGS.enable_model_warmup:
        try:
            warm_up(model)
        except BaseException:
            model.close()
            raise
    return model


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run() -> None:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS)
