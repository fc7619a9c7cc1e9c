"""Predict calls over TF Serving's gRPC API; needs the package tensorflow-serving-api."""

import functools
from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.serving.retrying import ServingError, in_short
from uanet_tf.tensorflow_stack import pip_install

_RETRYABLE_CODES = ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED")
_MAX_MESSAGE_BYTES = 64 << 20
_TYPES = {"tokens": "string", "text": "string", "lengths": "int32", "threshold": "float32"}


class GrpcTransport:
    """Calls PredictionService.Predict at "host:port"; may be used from several threads.

    Raises:
      InputError: tensorflow-serving-api is not installed.
    """

    def __init__(self, address: str, timeout: float, *, secure: bool = False) -> None:
        try:
            import grpc
            from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc
        except ImportError as error:
            raise InputError(
                f"gRPC needs the package tensorflow-serving-api ({error}): "
                f"{pip_install('tensorflow-serving-api')}, or use the REST API (http://...)."
            ) from None
        self._grpc = grpc
        self._predict_pb2 = predict_pb2
        self._address = address
        self._timeout = timeout
        self._secure = secure
        kinds = "send", "receive"
        options = [(f"grpc.max_{kind}_message_length", _MAX_MESSAGE_BYTES) for kind in kinds]
        self._channel = (
            grpc.secure_channel(address, grpc.ssl_channel_credentials(), options)
            if secure
            else grpc.insecure_channel(address, options)
        )
        self._stub = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)

    def predict(self, model: str, signature: str, inputs: dict[str, list]) -> dict[str, list]:
        """Outputs by name, as nested lists; see ``RestTransport.predict``."""
        import tensorflow as tf

        request = self._predict_pb2.PredictRequest()
        request.model_spec.name = model
        request.model_spec.signature_name = signature
        for name, values in inputs.items():
            request.inputs[name].CopyFrom(tf.make_tensor_proto(values, dtype=_TYPES[name]))
        try:
            response = self._stub.Predict(request, timeout=self._timeout)
        except self._grpc.RpcError as error:
            code = error.code().name
            raise ServingError(
                f"{self._address} ({model}): error {code}, {in_short(error.details() or '')}",
                status=code,
                retryable=code in _RETRYABLE_CODES,
            ) from None
        return {name: _plain(tf.make_ndarray(value)) for name, value in response.outputs.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process has a connection of its own.
        make = functools.partial(type(self), secure=self._secure)
        return make, (self._address, self._timeout)

    def close(self) -> None:
        """Closes the connection."""
        self._channel.close()


def _plain(array: Any) -> list:
    """An array as nested lists, bytes as text."""
    if array.dtype == object:
        array = array.copy()
        for position, value in enumerate(array.flat):
            array.flat[position] = value.decode("utf-8", "replace")
    return array.tolist()
