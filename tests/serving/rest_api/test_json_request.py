"""Bodies of requests as tensors, and what is refused in TensorFlow Serving's words."""

import json

import numpy as np
import pytest

from uanet_tf.serving.rest_api.json_request import parse_body, read_inputs, signature_name
from uanet_tf.serving.rest_api.rest_error import RestError

FLOAT = {"x": "float32"}
STRING = {"x": "string"}
TWO = {"tokens": "string", "lengths": "int32"}


def read(text, dtypes):
    return read_inputs(parse_body(text if isinstance(text, bytes) else text.encode()), dtypes)


def column(value, dtype):
    """The array that a value becomes as the one input of a signature."""
    return read(f'{{"inputs": {value}}}', {"x": dtype}).tensors["x"]


def refuse(text, dtypes, *parts, status=400):
    with pytest.raises(RestError) as caught:
        read(text, dtypes)
    assert caught.value.status == status
    for part in parts:
        assert part in caught.value.message
    assert len(caught.value.message) < 1_000


@pytest.mark.parametrize(
    ("body", "part"),
    [
        *((body, "The document is empty") for body in (b"", b" \n", b"\xef\xbb\xbf")),
        ("instances = [1, 2]", "JSON Parse error: Invalid value"),
        *((body, "JSON Parse error: ") for body in ("{", '{"inputs": [1', '{"inputs": [1,]}')),
        *((body, "JSON Parse error: ") for body in ("{'inputs': 1}", '{"inputs": "a\nb"}')),
        *((body, "JSON Parse error: ") for body in ('{"inputs": 01}', '{"inputs": 1e400}')),
        *((body, "JSON Parse error: ") for body in (b"\xff\xfe", b"\x00", '{"inputs": nul}')),
        *((body, "Is not object") for body in ("[1]", '"a"', "1", "null", "NaN")),
        *(('{"inputs": ' + "[" * n + "]" * n + "}", "") for n in (40, 2_000, 500_000)),
        ('{"inputs": ' + "9" * 1_000_000 + "}", "Number too big"),
        ('{"inputs": [1], "instances": [1]}', "Not formatted correctly"),
        ('{"signature_name": "a"}', "Missing 'inputs' or 'instances' key"),
        *((f'{{"instances": {rows}}}', "") for rows in ("[]", "{}", "1", "null", '"a"')),
        ('{"instances": [{"x": 1}, [1]]}', "Expecting object but got list at item 1"),
        ('{"instances": [1, {"x": 1}]}', "Expecting value/list but got object"),
        ('{"instances": [[1, 2], [3]]}', "Expecting tensor size: 2 but got: 1"),
        ('{"instances": [[[1, 2]], [[3], [4]]]}', "Expecting shape [1,2]"),
        *(
            (f'{{"inputs": {value}}}', "")
            for value in ("[[1, 2], [3]]", "[[1], 2]", "[1, [2]]", "[[], [1]]", "[[[1]], [2]]")
        ),
        *(
            (f'{{"{form}": [{value}]}}', "is not of expected type: float")
            for value in ('"1"', "true", "null", '{"b64": "MQ=="}')
            for form in ("inputs", "instances")
        ),
        (f'{{"instances": [{json.dumps(["a" * 100_000] * 3)}]}}', ""),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_refused(body, part):
    refuse(body, FLOAT, part)


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ('{"instances": [["a"]]}', ["instances is a plain list"]),
        ('{"instances": [{"b64": "YQ=="}]}', []),
        ('{"inputs": ["a"]}', ["inputs is a plain value/list"]),
        ('{"inputs": {"tokens": [["a"]]}}', ["Missing named input: lengths"]),
        ('{"instances": [{"tokens": ["a"]}]}', []),
        ('{"instances": [{"tokens": ["a"], "lengths": 1, "more": 1}]}', []),
        ('{"instances": [{"tokens": ["a"], "length": 1}]}', []),
        ('{"instances": [{}]}', []),
        (
            '{"instances": [{"tokens": ["a"], "lengths": 1}, '
            '{"tokens": ["a", "b"], "lengths": 2}]}',
            ["Failed to process element: 1 key: tokens", "Expecting tensor size: 1 but got: 2"],
        ),
    ],
)
def test_what_is_refused_of_two_inputs(body, parts):
    refuse(body, TWO, *parts)


@pytest.mark.parametrize(
    ("value", "dtype", "status", "part"),
    [
        *((value, "int32", 400, "is not of expected type") for value in ("1.0", "1e2", "NaN")),
        *((value, "int8", 400, "is not of expected type") for value in ("true", '"1"', "null")),
        ("2147483648", "int32", 400, "int32"),
        ("9223372036854775808", "int64", 400, ""),
        ("-1", "uint32", 400, ""),
        *((value, "bool", 400, "bool") for value in ("1", "0", '"true"', "null")),
        *((value, "string", 400, "expected type: string") for value in ("1", "1.5", "true")),
        *((value, "string", 400, "surrogate") for value in (r'"\ud800"', r'"x\udfff"')),
        *((f'{{"b64": "{text}"}}', "string", 400, "base64") for text in ("a", "####", "é")),
        *((value, "string", 400, "") for value in ('{"b64": 1}', '{"b": "YQ=="}', "{}")),
        ("1", "float16", 501, "Conversion"),
    ],
)
def test_values_of_another_type(value, dtype, status, part):
    refuse(f'{{"inputs": [{value}]}}', {"x": dtype}, part, status=status)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ("1", "float32", 1.0),
        ("[]", "float32", []),
        ("[[], []]", "float32", [[], []]),
        ("[[[1]]]", "float32", [[[1.0]]]),
        ("[1, -2.5, 1e3, 16777217]", "float64", [1, -2.5, 1000, 16777217]),
        ("[1e300, -1e300, Infinity]", "float32", [np.inf, -np.inf, np.inf]),
        ("[2147483647, -2147483648]", "int32", [2**31 - 1, -(2**31)]),
        ("[9223372036854775807, -9223372036854775808]", "int64", [2**63 - 1, -(2**63)]),
        ("[18446744073709551615]", "uint64", [2**64 - 1]),
        ("[true, false]", "bool", [True, False]),
        (
            r'["a", "Caf\u00e9", "\ud83d\ude00", ""]',
            "string",
            [b"a", "Café".encode(), "😀".encode(), b""],
        ),
        ('{"b64": "/wAB"}', "string", b"\xff\x00\x01"),
        ('{"x": [{"b64": "/wAB"}]}', "string", [b"\xff\x00\x01"]),
    ],
)
def test_columns(value, dtype, expected):
    found = column(value, dtype)
    assert found.tolist() == expected
    assert found.dtype == (object if dtype == "string" else dtype)


def test_not_a_number():
    assert np.isnan(column("[NaN]", "float32")).all()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("[[1, 2], [3, 4], [5, 6]]", [[1, 2], [3, 4], [5, 6]]),
        ("[1, 2]", [1, 2]),
        ('[{"x": 1}, {"x": 2}]', [1, 2]),
    ],
)
def test_rows(rows, expected):
    found = read(f'{{"instances": {rows}}}', FLOAT)
    assert found.rows
    assert found.tensors["x"].tolist() == expected


def test_rows_of_strings_and_of_several_inputs():
    for rows in ('[{"b64": "YQ=="}, {"b64": "Yg"}]', '[{"x": {"b64": "YQ=="}}, {"x": "b"}]'):
        assert read(f'{{"instances": {rows}}}', STRING).tensors["x"].tolist() == [b"a", b"b"]
    tensors = read('{"instances": [{"tokens": ["a", "b"], "lengths": 2}]}', TWO).tensors
    assert tensors["tokens"].tolist() == [[b"a", b"b"]]
    assert (tensors["lengths"].tolist(), tensors["lengths"].dtype) == ([2], np.int32)
    assert read(b'{"inputs": ["a\xff\xfe"]}', STRING).tensors["x"].tolist() == [b"a\xff\xfe"]


def test_columns_may_differ_in_size_and_hold_more():
    text = '{"inputs": {"tokens": [["a"], ["b"]], "lengths": 3, "other": [[1], 2]}}'
    found = read(text, TWO)
    assert not found.rows
    assert found.tensors.keys() == TWO.keys()
    assert found.tensors["lengths"].shape == ()


def test_what_does_not_matter():
    """Text after the object, other keys, the second of equal keys."""
    text = '{"inputs": [1], "inputs": [2], "more": {"a": null}} } junk'
    assert read(text, FLOAT).tensors["x"].tolist() == [1.0]


def test_signature_name():
    assert signature_name({}) == ""
    assert signature_name({"signature_name": "draft"}) == "draft"
    for value in (None, 1, [], {}, True):
        with pytest.raises(RestError, match="'signature_name' key must be a string value"):
            signature_name({"signature_name": value})
    for body in (b'{"signature_name": "\\ud800"}', b'{"signature_name": "\xff"}'):
        with pytest.raises(RestError, match="'signature_name' is not valid UTF-8"):
            signature_name(parse_body(body))
