"""A SavedModel in memory: its signatures, run on a session, as TF Serving runs them.

`tf.saved_model.load` is not used: it checks the shapes of signatures, which TF Serving does not,
and not every model gives its memory back (on the pinned version one that Keras' ExportArchive wrote
left 95 MB behind at each reload). A closed session does. This is what TF Serving's C++ loader does.
"""

import os
import pathlib
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import __version__ as protobuf_version
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, saved_model_pb2

from uanet_lite.strict_json import has_type, read_json
from uanet_tf.errors import InputError
from uanet_tf.files.checksums import check_checksums
from uanet_tf.serving.rest_api.rest_error import bad_request, from_tensorflow
from uanet_tf.serving.rest_api.served_model import DEFAULT_SIGNATURE

_SERVE_TAG = "serve"
_INIT_OP = "__saved_model_init_op"
_METHODS = {f"tensorflow/serving/{name}" for name in ("predict", "classify", "regress")}
_UNKNOWN_OP = "Op type not registered"
# protobuf 5 gave it another name.
_WITH_DEFAULTS = (
    "always_print_fields_with_no_presence"
    if int(protobuf_version.partition(".")[0]) >= 5
    else "including_default_value_fields"
)


class LoadedModel:
    """One version of a model, ready to answer.

    Args:
      timeout_ms: longest run of one request, milliseconds; 0: no limit.

    Raises:
      InputError: no SavedModel, a damaged one, or one whose operations are not available.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout_ms: int = 0) -> None:
        self.path = os.fspath(path)
        check_checksums(pathlib.Path(path))
        self.gamma = read_gate(pathlib.Path(path))
        self._timeout_ms = timeout_ms
        self._meta_graph = _read_meta_graph(self.path)
        self._graph = _import_graph(self._meta_graph, self.path)
        # The answers are a processor's: with TF32 the uncertainty would not be.
        tf.config.experimental.enable_tensor_float_32_execution(False)
        config = config_pb2.ConfigProto(allow_soft_placement=True)
        config.gpu_options.allow_growth = True
        self._session = tf.compat.v1.Session(graph=self._graph, config=config)
        try:
            _restore(self._session, self._meta_graph, self.path)
        except BaseException:
            self._session.close()
            raise
        self._lock = threading.Lock()
        self._callables: dict[str, Callable[..., list[np.ndarray]]] = {}
        signatures = self._meta_graph.signature_def
        how = {"preserving_proto_field_name": True, _WITH_DEFAULTS: True}
        self.metadata: dict[str, Any] = {
            name: json_format.MessageToDict(signatures[name], **how) for name in sorted(signatures)
        }
        # The graph lives in the session; what is kept is the signatures.
        self._meta_graph.ClearField("graph_def")

    def input_types(self, signature: str) -> dict[str, str]:
        """See ``ServedModel``."""
        inputs = self._signature(signature).inputs
        if not inputs:
            raise bad_request(f"Failed to get input map for signature: {signature}")
        return {name: tf.as_dtype(inputs[name].dtype).name for name in sorted(inputs)}

    def method(self, signature: str) -> str:
        """See ``ServedModel``."""
        return self._signature(signature).method_name

    def predict(self, signature: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """See ``ServedModel``."""
        definition = self._signature(signature)
        if definition.method_name not in _METHODS:
            raise bad_request(
                f"Expected prediction signature method_name to be one of {sorted(_METHODS)}. "
                f"Was: {definition.method_name}"
            )
        try:
            run = self._callable(signature or DEFAULT_SIGNATURE, definition)
            values = run(*(inputs[name] for name in sorted(definition.inputs)))
        except tf.errors.OpError as error:
            raise from_tensorflow(error.error_code, error.message) from None
        # A single string comes as bytes, which NumPy would take for its own.
        arrays = [np.array(v, object) if isinstance(v, bytes) else np.asarray(v) for v in values]
        return dict(zip(sorted(definition.outputs), arrays, strict=True))

    def _signature(self, name: str) -> meta_graph_pb2.SignatureDef:
        name = name or DEFAULT_SIGNATURE
        if name not in self._meta_graph.signature_def:
            raise bad_request(f'Serving signature name: "{name}" not found in signature def')
        return self._meta_graph.signature_def[name]

    def _callable(
        self, name: str, definition: meta_graph_pb2.SignatureDef
    ) -> Callable[..., list[np.ndarray]]:
        """The function that runs a signature; made once, since that prunes the graph."""
        with self._lock:
            if name not in self._callables:
                options = config_pb2.CallableOptions()
                options.run_options.timeout_in_ms = self._timeout_ms
                inputs, outputs = definition.inputs, definition.outputs
                options.feed.extend(inputs[key].name for key in sorted(inputs))
                options.fetch.extend(outputs[key].name for key in sorted(outputs))
                # The one way to run a session without Python's check of shapes.
                self._callables[name] = self._session._make_callable_from_options(options)
            return self._callables[name]


def read_gate(path: pathlib.Path) -> float | None:
    """Gamma, nats, as an export wrote it into a directory, or None. InputError: it is damaged."""
    file = path / "assets.extra" / "gate.json"
    if not file.exists():
        return None
    try:
        gamma = read_json(file)["threshold"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InputError(f"{file}: cannot be read ({error}).") from None
    if not (has_type(gamma, float) and 0 <= gamma < float("inf")):
        raise InputError(f"{file}: `threshold` must be a number of at least 0 nats.")
    return float(gamma)


def _read_meta_graph(path: str) -> meta_graph_pb2.MetaGraphDef:
    file = os.path.join(path, "saved_model.pb")
    model = saved_model_pb2.SavedModel()
    try:
        with open(file, "rb") as stream:
            model.ParseFromString(stream.read())
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}).") from None
    except DecodeError:
        raise InputError(f"{file}: is not a SavedModel, or was not written to its end.") from None
    for meta_graph in model.meta_graphs:
        if _SERVE_TAG in meta_graph.meta_info_def.tags:
            return meta_graph
    raise InputError(f"{file}: holds no graph with the tag {_SERVE_TAG!r}.")


def _import_graph(meta_graph: meta_graph_pb2.MetaGraphDef, path: str) -> tf.Graph:
    try:
        try:
            return _new_graph(meta_graph)
        except (tf.errors.OpError, ValueError) as error:
            if _UNKNOWN_OP not in str(error):
                raise
            unknown = _first_line(error)
        # Raw text: TF Serving has tensorflow-text linked in, here it is a package.
        import tensorflow_text  # noqa: F401 - registers its operations

        return _new_graph(meta_graph)
    except ImportError:
        told = "Its operations may be those of tensorflow-text, which is not installed."
        raise InputError(f"{path}: {unknown} {told}") from None
    except (tf.errors.OpError, ValueError) as error:
        raise InputError(f"{path}: the graph cannot be imported ({_first_line(error)})") from None


def _new_graph(meta_graph: meta_graph_pb2.MetaGraphDef) -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(meta_graph.graph_def, name="")
    return graph


def _restore(session: Any, meta_graph: meta_graph_pb2.MetaGraphDef, path: str) -> None:
    """Reads the variables and runs the initialiser (tables), both with the assets' paths."""
    feeds: dict[str, Any] = {
        asset.tensor_info.name: os.path.join(path, "assets", asset.filename)
        for asset in meta_graph.asset_file_def
    }
    variables = os.path.join(path, "variables", "variables")
    saver = meta_graph.saver_def
    try:
        if saver.restore_op_name:  # there is none where there are no variables
            if not os.path.exists(f"{variables}.index"):
                # It may be being copied; without its weights a model cannot answer.
                raise InputError(f"{variables}.index: is missing.")
            session.run(saver.restore_op_name, {**feeds, saver.filename_tensor_name: variables})
        if _INIT_OP in meta_graph.signature_def:
            session.run(meta_graph.signature_def[_INIT_OP].outputs[_INIT_OP].name, feeds)
    except (tf.errors.OpError, ValueError) as error:
        raise InputError(f"{path}: cannot be restored ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    message = error.message if isinstance(error, tf.errors.OpError) else str(error)
    message = message.removeprefix("Graph execution error:").strip()
    return message.splitlines()[0][:300] if message else type(error).__name__
