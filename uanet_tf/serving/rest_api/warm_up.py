"""Playing a version's warm-up requests before it serves, as TF Serving does.

They are in assets.extra/tf_serving_warmup_requests, a TFRecord file of PredictionLog messages.
"""

import os
from collections.abc import Iterator

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.framework import tensor_pb2

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.loaded_model import LoadedModel
from uanet_tf.serving.rest_api.messages import Field, Messages, new_message
from uanet_tf.serving.rest_api.rest_error import RestError

_FILE = os.path.join("assets.extra", "tf_serving_warmup_requests")
_MOST_REQUESTS = 1_000  # TF Serving's own limit
# Of prediction_log.proto, predict.proto and model.proto: what a predict request needs.
_MESSAGES: Messages = {
    "ModelSpec": [("signature_name", 3, Field.TYPE_STRING, False)],
    "Input": [("key", 1, Field.TYPE_STRING, False), ("value", 2, Field.TYPE_BYTES, False)],
    "PredictRequest": [("model_spec", 1, "ModelSpec", False), ("inputs", 2, "Input", True)],
    "PredictLog": [("request", 1, "PredictRequest", False)],
    "PredictionLog": [("predict_log", 6, "PredictLog", False)],
}


def warm_up(model: LoadedModel) -> int:
    """Plays the requests, if there are any, and returns their number.

    Raises:
      InputError: the file cannot be read, or the model refuses one of its requests.
    """
    path = os.path.join(model.path, _FILE)
    if not os.path.exists(path):
        return 0
    count = 0
    for record in _records(path):
        count += 1
        if count > _MOST_REQUESTS:
            raise InputError(f"{path}: holds more than {_MOST_REQUESTS:,} requests.")
        try:
            log = new_message(_MESSAGES, "PredictionLog").FromString(record)
            request = log.predict_log.request
            inputs = {
                entry.key: tf.make_ndarray(tensor_pb2.TensorProto.FromString(entry.value))
                for entry in request.inputs
            }
        except (DecodeError, TypeError, ValueError) as error:
            raise InputError(f"{path}: request {count} cannot be read ({error}).") from None
        signature = request.model_spec.signature_name
        if inputs.keys() != _inputs(model, signature, path, count):
            raise InputError(f"{path}: request {count} has not the inputs of its signature.")
        try:
            model.predict(signature, inputs)
        except RestError as error:
            raise InputError(f"{path}: request {count} fails: {error.message}") from None
    return count


def _inputs(model: LoadedModel, signature: str, path: str, count: int) -> set[str]:
    try:
        return set(model.input_types(signature))
    except RestError as error:
        raise InputError(f"{path}: request {count} fails: {error.message}") from None


def _records(path: str) -> Iterator[bytes]:
    try:
        yield from tf.data.TFRecordDataset(path).as_numpy_iterator()
    except tf.errors.DataLossError:
        raise InputError(f"{path}: is damaged, or was not written to its end.") from None
    except tf.errors.OpError as error:
        raise InputError(f"{path}: cannot be read ({error.message[:200]}).") from None
