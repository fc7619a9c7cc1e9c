"""Answers as JSON, with numbers written as TF Serving does."""

import base64
import json
import re
from collections.abc import Mapping

import numpy as np

from uanet_tf.serving.rest_api.rest_error import bad_request

_BYTES_SUFFIX = "_bytes"
# Digits that always reproduce a number.
_DIGITS = {"float32": 9, "float64": 17}
_WRITTEN_AS_FLOAT = re.compile(r"[.eN]|Inf")


def predictions(outputs: Mapping[str, np.ndarray], *, rows: bool) -> bytes:
    """The answer to a predict request; strings are arrays of bytes objects.

    Args:
      rows: row form, ``{"predictions": [...]}``; else columnar, ``{"outputs": ...}``.

    Raises:
      RestError: 400: a type that JSON cannot hold, or for rows, an output without batch dimension
        or with another one.
    """
    text = _rows(outputs) if rows else _columns(outputs)
    # Strings that are no UTF-8 leave as the bytes they are.
    return text.encode("utf-8", "surrogateescape")


def _rows(outputs: Mapping[str, np.ndarray]) -> str:
    size = None
    columns = {}
    for name, array in outputs.items():
        if array.ndim == 0:
            raise bad_request(f"Tensor name: {name} has no shape information")
        if size not in (None, len(array)):
            raise bad_request(
                f"Tensor name: {name} has inconsistent batch size: {len(array)} expecting: {size}"
            )
        size = len(array)
        columns[name] = _nested(name, array, array.ndim - 1)
    if len(columns) == 1:
        lines = next(iter(columns.values()))
    else:
        keys = [f"{json.dumps(name)}: " for name in columns]
        lines = [
            "{" + ", ".join(map("".join, zip(keys, row, strict=True))) + "}"
            for row in zip(*columns.values(), strict=True)
        ]
    return '{"predictions": [' + ",\n".join(lines) + "]}"


def _columns(outputs: Mapping[str, np.ndarray]) -> str:
    values = {name: _nested(name, array, array.ndim)[0] for name, array in outputs.items()}
    if len(values) == 1:
        return '{"outputs": ' + next(iter(values.values())) + "}"
    pairs = (f"{json.dumps(name)}: {value}" for name, value in values.items())
    return '{"outputs": {' + ",\n".join(pairs) + "}}"


def _nested(name: str, array: np.ndarray, levels: int) -> list[str]:
    """JSON texts of an array whose innermost ``levels`` dimensions are put into brackets."""
    texts = _leaves(name, array)
    shape = array.shape
    for level in range(levels):
        width = shape[len(shape) - 1 - level]
        count = int(np.prod(shape[: len(shape) - 1 - level], dtype=np.int64))
        texts = [
            "[" + ", ".join(texts[row * width : (row + 1) * width]) + "]" for row in range(count)
        ]
    return texts


def _leaves(name: str, array: np.ndarray) -> list[str]:
    """JSON texts of an array's values, in row-major order."""
    kind = array.dtype.name
    if kind in _DIGITS:
        return _decimals(array.ravel())
    if kind == "bool":
        return ["true" if value else "false" for value in array.ravel().tolist()]
    if array.dtype.kind in "iu":
        return list(map(str, array.ravel().tolist()))
    if kind == "object":
        texts = {}
        for value in set(array.ravel()):  # labels repeat
            if name.endswith(_BYTES_SUFFIX):
                texts[value] = '{"b64": "' + base64.b64encode(value).decode("ascii") + '"}'
            else:
                text = value.decode("utf-8", "surrogateescape")
                texts[value] = json.dumps(text, ensure_ascii=False)
        return [texts[value] for value in array.ravel()]
    raise bad_request(f"Cannot write tensor type: {kind} of output {name} as JSON")


def _decimals(values: np.ndarray) -> list[str]:
    """Six significant digits, or as many as reproduce the number; whole numbers get ".0"."""
    texts = [f"{value:.6g}" for value in values.tolist()]
    back = np.array(texts, dtype=np.float64).astype(values.dtype)
    for position in np.flatnonzero(~np.isfinite(values) | (back != values)):
        text = f"{float(values[position]):.{_DIGITS[values.dtype.name]}g}"
        texts[position] = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)
    return [text if _WRITTEN_AS_FLOAT.search(text) else f"{text}.0" for text in texts]
