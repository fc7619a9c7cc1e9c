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


class TestParsing:
    @pytest.mark.parametrize("body", [b"", b" \n", b"\xef\xbb\xbf"])
    def test_empty(self, body):
        refuse(body, FLOAT, "JSON Parse error: The document is empty")

    @pytest.mark.parametrize(
        "body",
        [
            "instances = [1, 2]",
            "{",
            '{"inputs": [1',
            '{"inputs": [1,]}',
            "{'inputs': 1}",
            '{"inputs": "a\nb"}',
            '{"inputs": 01}',
            '{"inputs": 1e400}',
            '{"inputs": nul}',
            b"\xff\xfe",
            b"\x00",
        ],
    )
    def test_broken(self, body):
        refuse(body, FLOAT, "JSON Parse error: ")

    def test_says_invalid_value_where(self):
        refuse("instances = [1, 2]", FLOAT, "JSON Parse error: Invalid value", "offset: 0")

    @pytest.mark.parametrize("body", ["[1]", '"a"', "1", "null", "NaN"])
    def test_must_be_an_object(self, body):
        refuse(body, FLOAT, "Is not object")

    @pytest.mark.parametrize("depth", [40, 2_000, 500_000])
    def test_nested_brackets(self, depth):
        refuse('{"inputs": ' + "[" * depth + "]" * depth + "}", FLOAT)

    def test_text_after_the_object_and_other_keys_do_not_matter(self):
        assert read('{"inputs": [1], "more": {"a": null}} } junk', FLOAT).tensors["x"].tolist() == [
            1.0
        ]

    def test_the_first_of_equal_keys_counts(self):
        assert read('{"inputs": [1], "inputs": [2]}', FLOAT).tensors["x"].tolist() == [1.0]

    @pytest.mark.parametrize("value", ["null", "1", "[]", "{}", "true"])
    def test_signature_name_is_a_string(self, value):
        with pytest.raises(RestError, match="'signature_name' key must be a string value"):
            signature_name(json.loads(f'{{"signature_name": {value}}}'))

    def test_signature_name(self):
        assert signature_name({}) == ""
        assert signature_name({"signature_name": "draft"}) == "draft"

    @pytest.mark.parametrize(
        "body", [b'{"signature_name": "\\ud800"}', b'{"signature_name": "\xff"}']
    )
    def test_signature_name_is_utf_8(self, body):
        with pytest.raises(RestError, match="'signature_name' is not valid UTF-8"):
            signature_name(parse_body(body))

    def test_an_integer_of_a_million_digits(self):
        refuse('{"inputs": ' + "9" * 1_000_000 + "}", {"x": "int64"}, "Number too big")


class TestForms:
    def test_one_of_both_keys(self):
        refuse('{"inputs": [1], "instances": [1]}', FLOAT, "Not formatted correctly")
        refuse('{"signature_name": "a"}', FLOAT, "Missing 'inputs' or 'instances' key")

    def test_rows_of_plain_values(self):
        read_ = read('{"instances": [[1, 2], [3, 4], [5, 6]]}', FLOAT)
        assert read_.rows
        assert read_.tensors["x"].tolist() == [[1, 2], [3, 4], [5, 6]]
        assert read_.tensors["x"].dtype == np.float32

    def test_rows_of_scalars_and_of_objects(self):
        assert read('{"instances": [1, 2]}', FLOAT).tensors["x"].shape == (2,)
        assert read('{"instances": [{"x": 1}, {"x": 2}]}', FLOAT).tensors["x"].shape == (2,)

    def test_rows_of_several_inputs(self):
        text = '{"instances": [{"tokens": ["a", "b"], "lengths": 2}]}'
        tensors = read(text, TWO).tensors
        assert tensors["tokens"].tolist() == [[b"a", b"b"]]
        assert tensors["lengths"].tolist() == [2]
        assert tensors["lengths"].dtype == np.int32

    @pytest.mark.parametrize("rows", ["[]", "{}", "1", "null", '"a"'])
    def test_rows_must_be_a_list_that_is_not_empty(self, rows):
        refuse(f'{{"instances": {rows}}}', FLOAT)

    def test_several_inputs_want_objects(self):
        refuse('{"instances": [["a"]]}', TWO, "instances is a plain list")
        refuse('{"instances": [{"b64": "YQ=="}]}', TWO)
        refuse('{"inputs": ["a"]}', TWO, "inputs is a plain value/list")

    @pytest.mark.parametrize(
        "row",
        [
            '{"tokens": ["a"]}',
            '{"tokens": ["a"], "lengths": 1, "more": 1}',
            '{"tokens": ["a"], "length": 1}',
            "{}",
        ],
    )
    def test_rows_have_exactly_the_inputs(self, row):
        refuse(f'{{"instances": [{row}]}}', TWO)

    def test_rows_of_one_kind(self):
        refuse('{"instances": [{"x": 1}, [1]]}', FLOAT, "Expecting object but got list at item 1")
        refuse('{"instances": [1, {"x": 1}]}', FLOAT, "Expecting value/list but got object")

    def test_rows_of_one_size_and_shape(self):
        refuse('{"instances": [[1, 2], [3]]}', FLOAT, "Expecting tensor size: 2 but got: 1")
        refuse('{"instances": [[[1, 2]], [[3], [4]]]}', FLOAT, "Expecting shape [1,2]", "[2,1]")

    def test_ragged_rows_of_named_inputs(self):
        refuse(
            '{"instances": [{"tokens": ["a"], "lengths": 1}, '
            '{"tokens": ["a", "b"], "lengths": 2}]}',
            TWO,
            "Failed to process element: 1 key: tokens",
            "Expecting tensor size: 1 but got: 2",
        )

    def test_columns(self):
        read_ = read('{"inputs": {"tokens": [["a"], ["b"]], "lengths": [1, 1]}}', TWO)
        assert not read_.rows
        assert read_.tensors["tokens"].shape == (2, 1)

    def test_columns_may_differ_in_size_and_hold_more(self):
        text = '{"inputs": {"tokens": [["a"], ["b"]], "lengths": 3, "other": [[1], 2]}}'
        tensors = read(text, TWO).tensors
        assert tensors.keys() == TWO.keys()
        assert tensors["lengths"].shape == ()

    def test_a_missing_column(self):
        refuse('{"inputs": {"tokens": [["a"]]}}', TWO, "Missing named input: lengths")

    @pytest.mark.parametrize(
        ("value", "shape"), [("1", ()), ("[]", (0,)), ("[[], []]", (2, 0)), ("[[[1]]]", (1, 1, 1))]
    )
    def test_shapes_of_columns(self, value, shape):
        assert column(value, "float32").shape == shape

    @pytest.mark.parametrize(
        "value", ["[[1, 2], [3]]", "[[1], 2]", "[1, [2]]", "[[], [1]]", "[[[1]], [2]]"]
    )
    def test_ragged_columns(self, value):
        refuse(f'{{"inputs": {value}}}', FLOAT)


class TestNumbers:
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_floats(self, dtype):
        values = column("[1, -2.5, 1e3, NaN, Infinity, -Infinity, 16777217]", dtype)
        expected = np.array([1, -2.5, 1000, np.nan, np.inf, -np.inf, 16777217])
        np.testing.assert_array_equal(values, expected.astype(dtype))
        assert values.dtype == dtype

    def test_beyond_float32_is_infinite(self):
        assert column("[1e300, -1e300]", "float32").tolist() == [np.inf, -np.inf]
        assert column("[1e300]", "float64").tolist() == [1e300]

    @pytest.mark.parametrize("value", ['"1"', "true", "null", '{"b64": "MQ=="}'])
    def test_no_floats(self, value):
        refuse(f'{{"inputs": [{value}]}}', FLOAT, "is not of expected type: float")
        refuse(f'{{"instances": [{value}]}}', FLOAT, "is not of expected type: float")

    @pytest.mark.parametrize("dtype", ["int32", "int64", "int16", "int8", "uint8"])
    @pytest.mark.parametrize("value", ["1.0", "1e2", "NaN", "true", '"1"', "null", "{}"])
    def test_no_integers(self, dtype, value):
        refuse(f'{{"inputs": [{value}]}}', {"x": dtype}, "is not of expected type")

    def test_limits_of_integers(self):
        assert column("[2147483647, -2147483648]", "int32").tolist() == [2**31 - 1, -(2**31)]
        refuse('{"inputs": [2147483648]}', {"x": "int32"}, "int32")
        assert column("[9223372036854775807, -9223372036854775808]", "int64").tolist() == [
            2**63 - 1,
            -(2**63),
        ]
        refuse('{"inputs": [9223372036854775808]}', {"x": "int64"})
        assert column("[18446744073709551615]", "uint64").tolist() == [2**64 - 1]
        refuse('{"inputs": [-1]}', {"x": "uint32"})

    def test_booleans(self):
        assert column("[true, false]", "bool").tolist() == [True, False]
        for value in ("1", "0", '"true"', "null"):
            refuse(f'{{"inputs": [{value}]}}', {"x": "bool"}, "bool")

    def test_types_that_json_cannot_hold(self):
        refuse('{"inputs": [1]}', {"x": "float16"}, "half", "Conversion", status=501)
        refuse('{"instances": [1]}', {"x": "float16"}, "Conversion", status=400)


class TestStrings:
    def test_text(self):
        values = column(r'["a", "Caf\u00e9", "日本", "\ud83d\ude00", "", "\u0000"]', "string")
        assert values.tolist() == [s.encode() for s in ("a", "Café", "日本", "😀", "", "\0")]

    def test_stray_bytes_pass(self):
        assert read(b'{"inputs": ["a\xff\xfe"]}', STRING).tensors["x"].tolist() == [b"a\xff\xfe"]

    @pytest.mark.parametrize("value", [r'"\ud800"', r'"\ud800x"', r'"x\udfff"'])
    def test_half_a_surrogate_pair(self, value):
        refuse(f'{{"inputs": [{value}]}}', STRING, "surrogate")

    @pytest.mark.parametrize("value", ["1", "1.5", "true", "null"])
    def test_no_strings(self, value):
        refuse(f'{{"inputs": [{value}]}}', STRING, "is not of expected type: string")

    @pytest.mark.parametrize(
        ("value", "shape"),
        [
            ('{"b64": "/wAB"}', ()),
            ('[{"b64": "/wAB"}]', (1,)),
            ('{"x": {"b64": "/wAB"}}', ()),
            ('{"x": [{"b64": "/wAB"}]}', (1,)),
        ],
    )
    def test_base64_wherever_a_string_may_stand(self, value, shape):
        array = read(f'{{"inputs": {value}}}', STRING).tensors["x"]
        assert array.shape == shape
        assert array.ravel().tolist() == [b"\xff\x00\x01"]

    def test_base64_in_rows(self):
        for rows in ('[{"b64": "YQ=="}, {"b64": "Yg"}]', '[{"x": {"b64": "YQ=="}}, {"x": "b"}]'):
            assert read(f'{{"instances": {rows}}}', STRING).tensors["x"].tolist() == [b"a", b"b"]

    @pytest.mark.parametrize("text", ["a", "####", "é"])
    def test_undecodable_base64(self, text):
        refuse(f'{{"inputs": [{{"b64": "{text}"}}]}}', STRING, "base64")

    @pytest.mark.parametrize(
        "value", ['{"b64": 1}', '{"b64": "YQ==", "more": 1}', '{"b": "YQ=="}', "{}"]
    )
    def test_other_objects_are_no_strings(self, value):
        refuse(f'{{"inputs": [{value}]}}', STRING)
        refuse(f'{{"inputs": {value}}}', STRING)
        refuse(f'{{"instances": [{value}]}}', STRING)


def test_messages_stay_short():
    values = json.dumps(["a" * 100_000] * 3)
    with pytest.raises(RestError) as caught:
        read(f'{{"instances": [{values}]}}', FLOAT)
    assert len(caught.value.message) < 1_000
