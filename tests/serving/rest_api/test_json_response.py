import json

import numpy as np
import pytest

from uanet_tf.serving.rest_api.json_response import predictions
from uanet_tf.serving.rest_api.rest_error import RestError


def strings(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def text(array):
    """JSON of one output in columnar form, without its key."""
    body = predictions({"y": np.asarray(array)}, rows=False).decode()
    return body.removeprefix('{"outputs": ').removesuffix("}")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3.0, "3.0"),
        (-3.0, "-3.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (9e6, "9e+06"),
        (3e-5, "3e-05"),
        (0.2, "0.2"),
        (123456.0, "123456.0"),
        (0.1 + 0.2, "0.3"),
        (1 / 3, "0.333333343"),
        (16777216.0, "16777216.0"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_float32(value, expected):
    assert text(np.float32(value)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.2, "0.2"), (1 / 3, "0.33333333333333331"), (3.0, "3.0"), (float("inf"), "Infinity")],
)
def test_float64(value, expected):
    assert text(np.float64(value)) == expected


def test_floats_come_back_exactly():
    values = np.random.default_rng(1).normal(size=1000).astype(np.float32) * 1e3
    np.testing.assert_array_equal(np.array(json.loads(text(values)), np.float32), values)


def test_integers_and_booleans():
    assert text(np.array([1, -2], np.int32)) == "[1, -2]"
    assert text(np.array([2**63 - 1])) == "[9223372036854775807]"
    assert text(np.array([True, False])) == "[true, false]"


def test_strings_and_bytes():
    assert text(strings("Café".encode(), b'"\\\n', b"")) == '["Café", "\\"\\\\\\n", ""]'
    body = predictions({"y_bytes": strings(b"\xff", b"a")}, rows=False)
    assert json.loads(body) == {"outputs": [{"b64": "/w=="}, {"b64": "YQ=="}]}


def test_stray_bytes_leave_as_they_are():
    assert b"a\xff" in predictions({"y": strings(b"a\xff")}, rows=False)


def test_rows():
    outputs = {"a": np.array([[1, 2], [3, 4]]), "b": strings(b"x", b"y")}
    assert json.loads(predictions(outputs, rows=True)) == {
        "predictions": [{"a": [1, 2], "b": "x"}, {"a": [3, 4], "b": "y"}]
    }
    assert json.loads(predictions({"a": outputs["a"]}, rows=True)) == {
        "predictions": [[1, 2], [3, 4]]
    }
    assert json.loads(predictions({"a": np.array([1.0])}, rows=True)) == {"predictions": [1.0]}


def test_columns():
    outputs = {"a": np.arange(24).reshape(2, 3, 4), "b": np.array(7)}
    assert json.loads(predictions(outputs, rows=False)) == {
        "outputs": {"a": outputs["a"].tolist(), "b": 7}
    }


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (2, 0, 3)])
def test_empty_arrays(shape):
    array = np.zeros(shape, np.float32)
    assert json.loads(text(array)) == array.tolist()
    assert json.loads(predictions({"y": array}, rows=True)) == {"predictions": array.tolist()}


def test_rows_need_one_batch_dimension():
    with pytest.raises(RestError, match="no shape information"):
        predictions({"a": np.array(1)}, rows=True)
    with pytest.raises(RestError, match="inconsistent batch size"):
        predictions({"a": np.zeros(2), "b": np.zeros(3)}, rows=True)
    predictions({"a": np.zeros(2), "b": np.zeros(3)}, rows=False)


@pytest.mark.parametrize("rows", [True, False])
def test_types_that_json_cannot_hold(rows):
    with pytest.raises(RestError, match="tensor type: complex64") as caught:
        predictions({"a": np.zeros(2, np.complex64)}, rows=rows)
    assert caught.value.status == 400
