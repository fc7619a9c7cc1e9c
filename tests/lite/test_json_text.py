"""A list is read whole; JSON lines one by one."""

import gzip
import json

import pytest

from uanet_lite.text_lines import MAX_LINE_BYTES, json_pieces, open_bytes, put_back, read_start
from uanet_tf.errors import InputError


def pieces(path, *limit):
    with open_bytes(path) as stream:
        start = read_start(stream, str(path))
        return list(json_pieces(put_back(start, stream), str(path), start, *limit))


def test_a_list_may_be_longer_than_a_line(tmp_path):
    path = tmp_path / "a.json"
    text = json.dumps(["é" * 1000] * 700, ensure_ascii=False)
    assert len(text.encode()) > MAX_LINE_BYTES
    for start in ("", "\ufeff", " \n\n\t", "\n" * 70_000):
        path.write_text(start + text, encoding="utf-8")
        assert "".join(pieces(path)).strip() == text
    path.write_bytes(gzip.compress(text.encode()))
    assert pieces(path) == [text]


def test_an_object_may_have_several_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{\n"a": 1\n}\n')
    assert pieces(path) == [path.read_text()]
    path.write_text('{"classes": [], "annotations": [' + " " * MAX_LINE_BYTES + "]}")
    assert pieces(path) == [path.read_text()]


def test_lines_keep_their_limit(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\ufeff{}\n\n[1]\n", encoding="utf-8")
    assert pieces(path) == ["{}", "", "[1]"]
    path.write_text("{}\n{" + " " * MAX_LINE_BYTES + "}\n")
    with pytest.raises(InputError, match=r"a\.jsonl:2: the line is longer than 1,048,576 bytes"):
        pieces(path)
    path.write_text("")
    assert pieces(path) == []


def test_what_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[" + " " * 100_000 + "]")
    with pytest.raises(InputError, match=r"a\.json: the JSON has more than 99,999 bytes"):
        pieces(path, 99_999)
    path.write_bytes(b"[\xff]")
    with pytest.raises(InputError, match=r"a\.json: not UTF-8 \(byte 0xff at position 2\)"):
        pieces(path)
