import os

import pytest

from uanet_lite.strict_json import (
    all_strings,
    check_fields,
    has_type,
    json_text,
    parse_json,
    read_json,
    shown,
)
from uanet_tf.errors import InputError, one_line


def test_plain_json(tmp_path):
    values = {"a": [1, 2.5, True, None, "東京"], "b": {"c": -1}}
    path = tmp_path / "file.json"
    path.write_text('{"a": [1, 2.5, true, null, "東京"], "b": {"c": -1}}', encoding="utf-8")
    assert read_json(path) == values


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", "[Infinity]", '{"a": 1, "a": 1}', "[" * 10**5, "9" * 5000, b"\xff"]
)
def test_what_is_not_json(text):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        parse_json(text)


def test_a_file_is_bounded(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('"1234"')
    assert read_json(path, 6) == "1234"
    with pytest.raises(ValueError, match="more than 5 bytes"):
        read_json(path, 5)


def test_only_files_are_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_json(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        read_json(tmp_path / "pipe")


def test_types_are_exact():
    assert has_type(1, int)
    assert has_type(1, float)
    assert has_type(None, (str, type(None)))
    assert not has_type(True, int)
    assert not has_type(True, float)
    assert not has_type(1.0, int)
    assert not has_type(1, bool)
    assert not has_type("1", (int, float))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([], "it is not a JSON object"),
        ({"a": 1, "x\n": 2}, r"it has the unknown key 'x\\n'"),
        ({}, "it lacks 'a'"),
        ({"a": True}, "it has True for 'a', not int"),
        ({"a": {"deep": 1}}, "it has 'dict' for 'a', not int"),
        ({"a": 1, "b": 3}, "it has 3 for 'b', not str or null"),
    ],
)
def test_fields(values, says):
    kinds = {"b": (str, type(None))}
    assert check_fields({"a": 1, "b": None}, {"a": int}, kinds, where="it") == {"a": 1, "b": None}
    with pytest.raises(InputError, match=says):
        check_fields(values, {"a": int}, kinds, where="it")


def test_strings():
    assert all_strings(["a", "", "🙂"])
    assert not all_strings(["a", 1])
    assert not all_strings(["\ud800"])


def test_foreign_text_in_messages():
    assert shown("\x1b[31m\n") == r"'\x1b[31m\n'"
    assert len(shown("x" * 10**6)) < 80
    assert shown([1] * 10**6) == "'list'"
    assert one_line(ValueError("first\x1b\nsecond")) == r"first\x1b"
    assert one_line(ValueError("")) == "unreadable"
    assert len(one_line(ValueError("x" * 10**6))) < 310


def test_halves_of_characters_are_escaped():
    assert json_text({"a": "é"}) == '{"a": "é"}'
    assert json_text({"a": "é\ud800"}) == r'{"a": "\u00e9\ud800"}'
