"""The files of ``assets.extra``, beside an exported graph.

``gate.json``: Gamma, for people, since a SavedModel keeps it where only the graph reads it.
``monitoring.json``: what a server compares its requests with, the run's development data.
``tf_serving_warmup_requests``: requests that TF Serving plays to a version before it serves it, so
that no client waits; a TFRecord file of PredictionLog messages. The package that defines them,
tensorflow-serving-api, requires a TensorFlow of its own choice, so the four nested messages are
written here (protocol buffers, encoding of length-delimited fields).
"""

import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.models.tagger import Tagger

GATE = "gate.json"


def write_gate(extra: pathlib.Path, model: Tagger) -> None:
    """Writes ``gate.json``, Gamma in nats; nothing for a model without a gate.

    Args:
      extra: folder ``assets.extra`` of a version.
      model: as it is exported.
    """
    if model.gate is not None:
        (extra / GATE).write_text(json.dumps({"threshold": model.threshold}), encoding="utf-8")


MONITORING = "monitoring.json"


def write_monitoring(extra: pathlib.Path, model: Tagger, metrics: Mapping[str, Any]) -> None:
    """Writes ``monitoring.json``; nothing for a run without such metrics.

    Args:
      extra: folder ``assets.extra`` of a version.
      model: of the run.
      metrics: of the run.
    """
    if "monitoring" in metrics:
        lookup = model.lookup
        values = {
            "monitoring": metrics["monitoring"],
            "chunks": model.label_scheme is not None,
            "normalize_digits": bool(getattr(lookup, "normalize_digits", False)),
            "lowercase_words": bool(getattr(lookup, "lowercase_words", False)),
        }
        (extra / MONITORING).write_text(json.dumps(values, indent=1), encoding="utf-8")


WARM_UP = "tf_serving_warmup_requests"

# Numbers of the fields in prediction_log.proto, predict.proto and model.proto of TF Serving.
_LOG_PREDICT_LOG = 6
_PREDICT_LOG_REQUEST = 1
_REQUEST_MODEL_SPEC, _REQUEST_INPUTS = 1, 2
_SPEC_NAME, _SPEC_SIGNATURE = 1, 3
_MAP_KEY, _MAP_VALUE = 1, 2
_LENGTH_DELIMITED = 2


def write_warm_up(
    path: pathlib.Path, model: str, requests: Iterable[tuple[str, Mapping[str, np.ndarray]]]
) -> None:
    """Writes the warm-up file.

    Args:
      path: the file.
      model: name of the model.
      requests: (signature, {input: array}) of each.
    """
    with tf.io.TFRecordWriter(str(path)) as writer:
        for signature, inputs in requests:
            writer.write(prediction_log(model, signature, inputs))


def prediction_log(model: str, signature: str, inputs: Mapping[str, np.ndarray]) -> bytes:
    """A PredictionLog of one predict request, as bytes; inputs in alphabetical order."""
    spec = _field(_SPEC_NAME, model.encode()) + _field(_SPEC_SIGNATURE, signature.encode())
    request = _field(_REQUEST_MODEL_SPEC, spec)
    for name in sorted(inputs):
        tensor = tf.make_tensor_proto(inputs[name]).SerializeToString(deterministic=True)
        entry = _field(_MAP_KEY, name.encode()) + _field(_MAP_VALUE, tensor)
        request += _field(_REQUEST_INPUTS, entry)
    return _field(_LOG_PREDICT_LOG, _field(_PREDICT_LOG_REQUEST, request))


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field: its tag, the length of its content, its content."""
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the top bit of a byte marks that more follow."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
