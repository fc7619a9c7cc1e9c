"""The body of a predict request: JSON in row form (instances) or columnar form (inputs).

Values become arrays as strictly as in TF Serving: no type is guessed, none converted. Strings are
text that may hold stray bytes (``surrogateescape``): TF Serving passes on what is not UTF-8.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from uanet_tf.serving.rest_api.rest_error import RestError, bad_request, unimplemented
from uanet_tf.serving.rest_api.served_model import BOOL, FLOATS, STRING, numpy_type

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

    RestError: 400, ragged nesting or values of another type; 501, types that TF Serving does not
    read from JSON.
    """
    shape, first = [], value
    while type(first) is list:
        shape.append(len(first))
        if len(shape) > MAX_RANK:
            raise bad_request(f"Lists nested more than {MAX_RANK} deep are no tensor.")
        if not first:
            break
        first = first[0]
    leaves = [value]
    for size in shape:
        for each in leaves:
            if type(each) is not list or len(each) != size:
                raise bad_request(f"JSON Value: {shown(each)} is no list of {size}, as the first")
        leaves = [item for each in leaves for item in each]
    for each in leaves:
        if type(each) is list:
            raise bad_request(f"JSON Value: {shown(each)} is a list, and the first is none")
    return _values(leaves, dtype).reshape(shape)


def shown(value: Any) -> str:
    """The start of a value's JSON text, for messages; a plain string as it is."""
    try:
        text = value if type(value) is str else json.dumps(value)
    except RecursionError:
        text = "[" * (_SHOWN + 1)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _values(leaves: list[Any], dtype: str) -> np.ndarray:
    """The leaves as an array of one dimension, none of them converted."""
    kind = numpy_type(dtype)
    if dtype == STRING:
        strings = np.empty(len(leaves), object)
        strings[:] = [_bytes(leaf) for leaf in leaves]
        return strings
    if dtype in FLOATS:
        return _floats(leaves, dtype)
    if dtype in _INTEGERS:
        low, high = _INTEGERS[dtype]
        wrong = [leaf for leaf in leaves if type(leaf) is not int or not low <= leaf <= high]
        wide = np.dtype(np.uint64 if dtype == "uint64" else np.int64)
    elif dtype == BOOL:
        wrong, wide = [leaf for leaf in leaves if type(leaf) is not bool], kind
    elif leaves:  # unknown types fail at their first value, as they do in TF Serving
        raise unimplemented(f"Conversion of JSON Value: {shown(leaves[0])} to type: {_name(dtype)}")
    else:
        return np.zeros(0, kind)
    if wrong:
        raise _type_error(wrong[0], dtype)
    return np.array(leaves, wide).astype(kind)


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


def _bytes(leaf: Any) -> bytes:
    if type(leaf) is str:
        try:
            return leaf.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            told = "JSON Parse error: The surrogate pair in string is invalid."
            raise bad_request(told) from None
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
    value = json.dumps(leaf) if type(leaf) is str else leaf
    return bad_request(f"JSON Value: {shown(value)} is not of expected type: {_name(dtype)}")


def _name(dtype: str) -> str:
    """The type's name in TensorFlow's C++."""
    return {"float16": "half", "float32": "float", "float64": "double"}.get(dtype, dtype)


_BOM = "\ufeff"
_BLANKS = " \t\n\r"


class Inputs(NamedTuple):
    """Tensors of a request by name, and whether the answer is to come row by row."""

    tensors: dict[str, np.ndarray]
    rows: bool


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object that a body starts with; what follows it is ignored.

    RestError, 400: it is not JSON, or no object.
    """
    # Stray bytes become lone surrogates, and the same bytes again in the tensor.
    text = body.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    start = len(text) - len(text.lstrip(_BLANKS))
    if start == len(text):
        raise bad_request("JSON Parse error: The document is empty at offset: 0")
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        reason = "Invalid value" if error.msg == "Expecting value" else error.msg
        raise bad_request(f"JSON Parse error: {reason} at offset: {error.pos}") from None
    except RecursionError:
        raise bad_request("JSON Parse error: nested too deeply") from None
    except ValueError:  # an integer of more digits than Python reads
        raise bad_request("JSON Parse error: Number too big to be stored in double.") from None
    if type(value) is not dict:
        raise bad_request(f"JSON Value: {shown(value)} Is not object")
    return value


def signature_name(body: Mapping[str, Any]) -> str:
    """The signature asked for; "" for the default. RestError: 400, no string, or none in UTF-8."""
    name = body.get("signature_name", "")
    if type(name) is not str:
        raise bad_request(
            f"JSON Value: {shown(name)} not formatted correctly. 'signature_name' key must be a "
            "string value."
        )
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise bad_request("JSON Value: 'signature_name' is not valid UTF-8.")
    return name


def read_inputs(body: Mapping[str, Any], dtypes: Mapping[str, str]) -> Inputs:
    """Makes the tensors of a request, of the types of the signature's inputs.

    RestError: 400, or 501 for types that JSON cannot hold; the shapes of the signature are not
    checked, since TF Serving leaves that to the model.
    """
    if "instances" in body and "inputs" in body:
        raise bad_request(
            "JSON Value: Not formatted correctly expecting only one of 'inputs' or 'instances' "
            "keys to exist"
        )
    if "instances" in body:
        return Inputs(_from_rows(body["instances"], dtypes), rows=True)
    if "inputs" in body:
        return Inputs(_from_columns(body["inputs"], dtypes), rows=False)
    raise bad_request("Missing 'inputs' or 'instances' key")


def _from_rows(rows: Any, dtypes: Mapping[str, str]) -> dict[str, np.ndarray]:
    if type(rows) is not list:
        raise bad_request(f"JSON Value: {shown(rows)} Expecting 'instances' to be an list/array")
    if not rows:
        raise bad_request("JSON Value: [] No values in 'instances' array")
    if len(dtypes) > 1 and type(rows[0]) is not dict:
        raise bad_request(
            "instances is a plain list, but expecting list of objects as multiple input tensors "
            "required as per tensorinfo_map"
        )
    named = _is_named(rows[0])
    columns: dict[str, list[np.ndarray]] = {name: [] for name in dtypes}
    for number, row in enumerate(rows):
        if _is_named(row) != named:
            found = "object but got list" if named else "value/list but got object"
            raise bad_request(f"Expecting {found} at item {number} of input list")
        for name, value in (row if named else {next(iter(dtypes)): row}).items():
            try:
                if name not in dtypes:
                    raise bad_request(f"JSON object: does not have named input: {name}")
                array = to_array(value, dtypes[name])
                _check_like(columns[name][:1], array)
            except RestError as error:
                raise bad_request(
                    f"Failed to process element: {number} key: {shown(name)} of 'instances' list. "
                    f"Error: {error.message}"
                ) from None
            columns[name].append(array)
        if named and row.keys() != dtypes.keys():
            raise bad_request(
                f"Failed to process element: {number} of 'instances' list. JSON object: "
                f"{shown(row)} keys must be equal to: {','.join(sorted(dtypes))}"
            )
    if not all(columns.values()):
        raise bad_request(f"instances must be objects with the keys {','.join(sorted(dtypes))}")
    return {name: np.stack(column) for name, column in columns.items()}


def _check_like(first: list[np.ndarray], array: np.ndarray) -> None:
    """Raises RestError unless a row's value has the shape of the first row's, if there is one."""
    for other in first:
        if other.size != array.size:
            raise bad_request(f"Expecting tensor size: {other.size} but got: {array.size}")
        if other.shape != array.shape:
            raise bad_request(f"Expecting shape {_shape(other)} but got: {_shape(array)}")


def _from_columns(inputs: Any, dtypes: Mapping[str, str]) -> dict[str, np.ndarray]:
    if not _is_named(inputs):
        if len(dtypes) > 1:
            raise bad_request(
                "inputs is a plain value/list, but expecting an object as multiple input tensors "
                "required as per tensorinfo_map"
            )
        name, dtype = next(iter(dtypes.items()))
        return {name: to_array(inputs, dtype)}
    tensors = {}
    for name, dtype in dtypes.items():
        if name not in inputs:
            raise bad_request(f"Missing named input: {name} in 'inputs' object.")
        tensors[name] = to_array(inputs[name], dtype)
    return tensors


def _is_named(value: Any) -> bool:
    """Whether a value is an object of named inputs."""
    return type(value) is dict and not is_base64(value)


def _shape(array: np.ndarray) -> str:
    return f"[{','.join(map(str, array.shape))}]"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of equal keys the first counts, as in TF Serving."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else dict(reversed(pairs))


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise bad_request("JSON Parse error: Number too big to be stored in double.")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float)
