"""JSON values to arrays, as strictly as TF Serving: no type is guessed, none converted.

Strings are text that may hold stray bytes (``surrogateescape``), since TF Serving passes on
bytes that are not UTF-8.
"""

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from uanet_tf.serving.rest_api.rest_error import RestError, bad_request, unimplemented
from uanet_tf.serving.rest_api.tensor_types import BOOL, FLOATS, STRING, numpy_type

MAX_RANK = 32  # NumPy's own limit
_SHOWN = 200
_INT32 = (-(2**31), 2**31 - 1)
# Literals allowed for each type of integers: TF Serving reads the narrow ones as int32 and cuts.
_INTEGERS = {
    "int32": _INT32,
    "int16": _INT32,
    "int8": _INT32,
    "uint8": _INT32,
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


def is_base64(value: Any) -> bool:
    """Whether ``value`` is ``{"b64": "..."}``, which stands for bytes."""
    return type(value) is dict and len(value) == 1 and type(value.get("b64")) is str


def to_array(value: Any, dtype: str) -> np.ndarray:
    """A scalar or regular nested list as an array of the type given.

    Raises:
      RestError: 400 for ragged nesting or values of another type; 501 for types that TF
        Serving does not read from JSON.
    """
    shape = _dense_shape(value)
    leaves: list[Any] = []
    _collect(value, shape, 0, leaves)
    # Unknown types fail at their first value, as they do in TF Serving.
    convert = _converter(dtype) if leaves else (lambda _: np.zeros(0, numpy_type(dtype)))
    return convert(leaves).reshape(shape)


def shown(value: Any) -> str:
    """The start of a value's JSON text, for messages; a plain string as it is."""
    text = value
    if type(value) is not str:
        text = ""
        try:
            for piece in json.JSONEncoder().iterencode(value):
                text += piece
                if len(text) > _SHOWN:
                    break
        except RecursionError:
            text += "..."
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _dense_shape(value: Any) -> list[int]:
    """Lengths of the lists along the first elements."""
    shape = []
    while type(value) is list:
        shape.append(len(value))
        if len(shape) > MAX_RANK:
            raise bad_request(f"Lists nested more than {MAX_RANK} deep are no tensor.")
        if not value:
            break
        value = value[0]
    return shape


def _collect(value: Any, shape: list[int], level: int, leaves: list[Any]) -> None:
    """Appends the leaves of ``value`` in order, checking its nesting against ``shape``."""
    if type(value) is not list:
        if level != len(shape):
            raise bad_request(
                f"JSON Value: {shown(value)} found at incorrect level: {level + 1} in the JSON "
                f"DOM. Expected at level: {len(shape)}"
            )
        leaves.append(value)
        return
    if level >= len(shape):
        raise bad_request(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
    if len(value) != shape[level]:
        raise bad_request(
            f"Encountered list at unexpected size: {len(value)} at level: {level} "
            f"expected size: {shape[level]}"
        )
    for item in value:
        _collect(item, shape, level + 1, leaves)


def _converter(dtype: str) -> Callable[[list[Any]], np.ndarray]:
    if dtype in FLOATS:
        return lambda leaves: _floats(leaves, dtype)
    if dtype in _INTEGERS:
        return lambda leaves: _integers(leaves, dtype)
    if dtype == BOOL:
        return _booleans
    if dtype == STRING:
        return _strings

    def refuse(leaves: list[Any]) -> np.ndarray:
        raise unimplemented(f"Conversion of JSON Value: {shown(leaves[0])} to type: {_name(dtype)}")

    return refuse


def _floats(leaves: list[Any], dtype: str) -> np.ndarray:
    for leaf in leaves:
        if type(leaf) is not float and type(leaf) is not int:
            raise _type_error(leaf, dtype)
    try:
        values = np.array(leaves, dtype=np.float64)
    except OverflowError:
        raise bad_request("JSON Parse error: Number too big to be stored in double.") from None
    with np.errstate(over="ignore"):  # beyond float32: infinite, as in TF Serving
        return values.astype(numpy_type(dtype))


def _integers(leaves: list[Any], dtype: str) -> np.ndarray:
    low, high = _INTEGERS[dtype]
    for leaf in leaves:
        if type(leaf) is not int or not low <= leaf <= high:
            raise _type_error(leaf, dtype)
    wide = np.uint64 if dtype == "uint64" else np.int64
    return np.array(leaves, dtype=wide).astype(numpy_type(dtype))


def _booleans(leaves: list[Any]) -> np.ndarray:
    for leaf in leaves:
        if type(leaf) is not bool:
            raise _type_error(leaf, BOOL)
    return np.array(leaves, dtype=np.bool_)


def _strings(leaves: list[Any]) -> np.ndarray:
    values = np.empty(len(leaves), dtype=object)
    for position, leaf in enumerate(leaves):
        values[position] = _bytes(leaf)
    return values


def _bytes(leaf: Any) -> bytes:
    if type(leaf) is str:
        try:
            return leaf.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise bad_request(
                "JSON Parse error: The surrogate pair in string is invalid."
            ) from None
    if not is_base64(leaf):
        if type(leaf) is dict:
            raise bad_request(f"JSON Value: {shown(leaf)} not formatted correctly for base64 data")
        raise _type_error(leaf, STRING)
    # White space is skipped and padding may be left out, as absl's decoder has it.
    text = "".join(leaf["b64"].split()).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise bad_request("Unable to base64 decode") from None


def _type_error(leaf: Any, dtype: str) -> RestError:
    kinds = {
        type(None): "Null",
        bool: "True" if leaf else "False",
        dict: "Object",
        str: "String",
    }
    kind = kinds.get(type(leaf), "Number")
    value = json.dumps(leaf) if type(leaf) is str else shown(leaf)
    return bad_request(
        f"JSON Value: {shown(value)} Type: {kind} is not of expected type: {_name(dtype)}"
    )


def _name(dtype: str) -> str:
    """The type's name in TensorFlow's C++."""
    return {"float16": "half", "float32": "float", "float64": "double"}.get(dtype, dtype)
