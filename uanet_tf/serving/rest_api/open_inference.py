"""Bodies of the Open Inference Protocol, version 2: requests to tensors, tensors to answers.

The protocol of KServe, Triton and Seldon
(https://github.com/kserve/open-inference-protocol, inference_rest). Tensors are JSON; the extension
for binary ones is not offered. A signature other than the default is named by the request's
parameter ``signature_name``.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.serving.rest_api.json_request import parse_body
from uanet_tf.serving.rest_api.json_response import leaves
from uanet_tf.serving.rest_api.json_values import shown, to_array
from uanet_tf.serving.rest_api.rest_error import RestError, bad_request
from uanet_tf.serving.rest_api.served_model import DEFAULT_SIGNATURE, ServedModel
from uanet_tf.serving.rest_api.tensor_types import (
    BOOL,
    INTEGERS,
    STRING,
    from_proto,
    type_name,
)

SIGNATURE = "signature_name"
_DATATYPES = {
    STRING: "BYTES",
    BOOL: "BOOL",
    "float16": "FP16",
    "float32": "FP32",
    "float64": "FP64",
    **{name: name.upper() for name in INTEGERS},
}
_MAX_RANK = 32  # NumPy's own limit
_MAX_SIZE = 2**31 - 1  # positions are int32 in the graphs


class InferRequest(NamedTuple):
    """The body of a request, its tensors not yet read.

    Attributes:
      id: what the client calls the request, or None.
      signature: "" for the default.
      inputs: as they came.
      outputs: names of those wanted; empty: all.
    """

    id: str | None
    signature: str
    inputs: list[dict[str, Any]]
    outputs: list[str]


def read_request(body: bytes) -> InferRequest:
    """Reads the JSON of a request.

    Raises:
      RestError: 400, not JSON, or not what the protocol describes.
    """
    value = parse_body(body)
    name = value.get("id")
    if name is not None and type(name) is not str:
        raise bad_request(f"id must be a string. Received: {shown(name)}")
    signature = _object(value, "parameters").get(SIGNATURE, "")
    if type(signature) is not str:
        raise bad_request(f"parameter {SIGNATURE} must be a string. Received: {shown(signature)}")
    inputs = _objects(value, "inputs")
    if not inputs:
        raise bad_request("inputs is missing, or has no tensor")
    outputs = [_text(entry, "name", "an output") for entry in _objects(value, "outputs")]
    return InferRequest(name, signature, inputs, outputs)


def read_tensors(inputs: list[dict[str, Any]], dtypes: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The tensors of a request.

    Args:
      inputs: of the request.
      dtypes: types of the signature's inputs by name.

    Raises:
      RestError: 400: other inputs than the model's, another datatype, or data that does not fit
        the shape.
    """
    tensors: dict[str, np.ndarray] = {}
    for entry in inputs:
        name = _text(entry, "name", "an input")
        if name not in dtypes:
            raise bad_request(f"the model has no input {shown(name)}: {', '.join(sorted(dtypes))}")
        if name in tensors:
            raise bad_request(f"input {name} appears twice")
        try:
            tensors[name] = _tensor(entry, dtypes[name])
        except RestError as error:
            raise RestError(error.status, f"input {name}: {error.message}") from None
    if missing := sorted(set(dtypes) - set(tensors)):
        raise bad_request(f"inputs are missing: {', '.join(missing)}")
    return tensors


def _tensor(entry: Mapping[str, Any], dtype: str) -> np.ndarray:
    datatype = _text(entry, "datatype", "an input")
    if datatype != _DATATYPES.get(dtype):
        raise bad_request(f"datatype is {shown(datatype)}, the model's is {_DATATYPES.get(dtype)}")
    shape = entry.get("shape")
    if type(shape) is not list or any(type(size) is not int or size < 0 for size in shape):
        raise bad_request(f"shape must be a list of sizes. Received: {shown(shape)}")
    if any(size > _MAX_SIZE for size in shape):
        raise bad_request(f"shape has a size over {_MAX_SIZE:,}")
    if len(shape) > _MAX_RANK:
        raise bad_request(f"shape has more than {_MAX_RANK} sizes")
    if "data" not in entry:
        raise bad_request("data is missing; binary tensors are not offered, send JSON")
    values = to_array(entry["data"], dtype)
    if values.size != math.prod(shape):
        raise bad_request(f"data has {values.size:,} values, which is not shape {shown(shape)}")
    try:
        return values.reshape(shape)
    except ValueError:  # no values, and sizes whose product is beyond any array
        raise bad_request(f"shape is too large. Received: {shown(shape)}") from None


def write_response(
    outputs: Mapping[str, np.ndarray], request: InferRequest, model: str, version: int
) -> bytes:
    """The answer: tensors in row-major order.

    Args:
      outputs: arrays by output name; strings are arrays of bytes objects.
      request: that is answered.
      model: its name.
      version: that answered.

    Raises:
      RestError: 400: no such output, or a type that JSON cannot hold.
    """
    if unknown := sorted(set(request.outputs) - set(outputs)):
        raise bad_request(f"the model has no output {shown(unknown[0])}")
    head = {"model_name": model, "model_version": str(version)}
    if request.id is not None:
        head["id"] = request.id
    tensors = []
    for name in request.outputs or outputs:
        values = outputs[name]
        datatype = _DATATYPES.get(type_name(values.dtype))
        about = {"name": name, "shape": list(values.shape), "datatype": datatype}
        data = ", ".join(leaves(name, values))
        tensors.append(f'{json.dumps(about)[:-1]}, "data": [{data}]}}')
    text = f'{json.dumps(head)[:-1]}, "outputs": [' + ",\n".join(tensors) + "]}"
    return text.encode("utf-8", "surrogateescape")


def describe(name: str, versions: list[int], model: ServedModel) -> dict[str, Any]:
    """The metadata of a model: inputs and outputs of its default signature.

    Args:
      name: of the model.
      versions: that are loaded.
      model: the version that is described.
    """
    definition = model.metadata.get(DEFAULT_SIGNATURE, {})
    return {
        "name": name,
        "versions": [str(version) for version in versions],
        "platform": model.platform,
        **{side: _describe(definition.get(side, {})) for side in ("inputs", "outputs")},
    }


def _describe(tensors: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "datatype": _DATATYPES.get(from_proto(about["dtype"]), about["dtype"]),
            "shape": [int(each["size"]) for each in about["tensor_shape"]["dim"]],
        }
        for name, about in sorted(tensors.items())
    ]


def _text(entry: Mapping[str, Any], key: str, what: str) -> str:
    value = entry.get(key)
    if type(value) is not str:
        raise bad_request(f"{key} of {what} must be a string. Received: {shown(value)}")
    return value


def _object(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key, {})
    if type(found) is not dict:
        raise bad_request(f"{key} must be an object. Received: {shown(found)}")
    return found


def _objects(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = value.get(key, [])
    if type(found) is not list or any(type(entry) is not dict for entry in found):
        raise bad_request(f"{key} must be a list of objects. Received: {shown(found)}")
    return found
