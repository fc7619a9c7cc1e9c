"""A list is read whole; JSON lines one by one."""

import gzip
import json

import pytest

from uanet_lite.text_lines import (
    MAX_BYTES,
    MAX_LINE_BYTES,
    display_name,
    json_pieces,
    open_bytes,
    put_back,
    read_start,
)
from uanet_tf.errors import InputError


def read_json_text(path, max_bytes=MAX_BYTES):
    name = display_name(path)
    with open_bytes(path) as stream:
        start = read_start(stream, name)
        yield from json_pieces(put_back(start, stream), name, start, max_bytes)


def test_a_list_may_be_longer_than_a_line(tmp_path):
    path = tmp_path / "a.json"
    text = json.dumps(["é" * 1000] * 700, ensure_ascii=False)
    assert len(text.encode()) > MAX_LINE_BYTES
    for start in ("", "\ufeff", " \n\n\t", "\n" * 70_000):
        path.write_text(start + text, encoding="utf-8")
        assert "".join(read_json_text(path)).strip() == text
    path.write_bytes(gzip.compress(text.encode()))
    assert list(read_json_text(path)) == [text]


def test_lines_keep_their_limit(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\ufeff{}\n\n[1]\n", encoding="utf-8")
    assert list(read_json_text(path)) == ["{}", "", "[1]"]
    path.write_text("{}\n{" + " " * MAX_LINE_BYTES + "}\n")
    with pytest.raises(InputError, match=r"a\.jsonl:2: the line is longer than 1,048,576 bytes"):
        list(read_json_text(path))
    path.write_text("")
    assert list(read_json_text(path)) == []


def test_what_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[" + " " * 100_000 + "]")
    with pytest.raises(InputError, match=r"a\.json: the JSON list has more than 99,999 bytes"):
        list(read_json_text(path, 99_999))
    path.write_bytes(b"[\xff]")
    with pytest.raises(InputError, match=r"a\.json: not UTF-8 \(byte 0xff at position 2\)"):
        list(read_json_text(path))
