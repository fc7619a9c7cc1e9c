"""Settings, labels and vocabulary behind a graph, as somebody else may have written them."""

import json
import zipfile

import pytest

from uanet_lite.input_error import InputError
from uanet_lite.model_file import read_model_file

SETTINGS = {
    "format": 1,
    "threshold": 0.35,
    "label_scheme": "IOB2",
    "max_tokens": 512,
    "max_chars": 40,
    "token_column": "0",
    "tokenizer": {"kind": "ptb", "abbreviations": [], "ordinals": False, "marks": ""},
    "normalize_digits": True,
    "lowercase_words": False,
    "padding_id": 0,
    "unknown_id": 1,
    "first_id": 2,
}
FILES = {
    "settings.json": json.dumps(SETTINGS),
    "labels.txt": "O\nB-PER\nI-PER\n",
    "words.txt": "the\nof\n",
    "chars.txt": "116\tt\n104\th\n",
}


def write(folder, files, compression=zipfile.ZIP_STORED, more=()):
    path = folder / "x.tflite"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in [*files.items(), *more]:
            archive.writestr(name, content)
    return path


def test_what_is_read(tmp_path):
    found = read_model_file(write(tmp_path, FILES))
    assert found.labels == ["O", "B-PER", "I-PER"]
    assert found.words == ["the", "of"]
    assert found.chars == ["t", "h"]
    assert found.settings["threshold"] == 0.35


def test_a_tagger_without_a_gate(tmp_path):
    settings = json.dumps({**SETTINGS, "threshold": None, "label_scheme": None})
    assert (
        read_model_file(write(tmp_path, {**FILES, "settings.json": settings})).settings["threshold"]
        is None
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, KeyError) for key in SETTINGS if key != "format"),
        *((key, "x") for key in SETTINGS if key not in ("format", "label_scheme", "token_column")),
        ("token_column", 1),
        ("label_scheme", "IOB9"),
        ("label_scheme", []),
        ("threshold", -1),
        ("threshold", 10**400),
        ("max_tokens", 0),
        ("max_tokens", True),
        ("max_chars", 1),
        ("first_id", 3),
        ("tokenizer", {"kind": "other", "abbreviations": [], "ordinals": False, "marks": ""}),
        ("tokenizer", []),
        ("words", 3),
        ("words", ["a", 3]),
    ],
)
def test_wrong_settings(tmp_path, key, value):
    settings = {**SETTINGS, key: value}
    if value is KeyError:
        del settings[key]
    path = write(tmp_path, {**FILES, "settings.json": json.dumps(settings)})
    with pytest.raises(InputError, match=r"x\.tflite is damaged: ") as told:
        read_model_file(path)
    assert "\n" not in str(told.value)


def test_an_impossible_number_is_named(tmp_path):
    settings = json.dumps({**SETTINGS, "max_tokens": 0})
    with pytest.raises(InputError, match=r"max_tokens in settings\.json is 0, not from 1 to"):
        read_model_file(write(tmp_path, {**FILES, "settings.json": settings}))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("settings.json", ""),
        ("settings.json", "[" * 100_000),
        ("settings.json", "[1]"),
        ("settings.json", b"\xff\xfe"),
        ("labels.txt", b"\xff\n"),
        ("words.txt", b"\xff\n"),
        ("chars.txt", b"\xff\n"),
        ("chars.txt", "t\n"),
        ("chars.txt", "-5\tx\n"),
        ("chars.txt", "99999999999\tx\n"),
    ],
)
def test_wrong_files(tmp_path, name, content):
    path = write(tmp_path, {**FILES, name: content})
    with pytest.raises(InputError, match=r"x\.tflite is damaged: ") as told:
        read_model_file(path)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [("words.txt", "a\na\n"), ("chars.txt", "97\ta\n97\ta\n"), ("chars.txt", "55296\tx\n")],
)
def test_entries_that_no_table_can_hold(tmp_path, name, content):
    with pytest.raises(InputError, match=r"x\.tflite is damaged: "):
        read_model_file(write(tmp_path, {**FILES, name: content}))


def test_archives_that_nobody_wrote(tmp_path):
    said = "is not a TensorFlow Lite model with labels and vocabulary"
    with pytest.raises(InputError, match=said):  # it could unpack to any size
        read_model_file(write(tmp_path, FILES, zipfile.ZIP_DEFLATED))
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = write(tmp_path, FILES, more=[("settings.json", "{}")])
    with pytest.raises(InputError, match=said):
        read_model_file(twice)
    # A packed file that nobody reads stays packed.
    path = write(tmp_path, FILES)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(1 << 20))
    assert read_model_file(path).labels == ["O", "B-PER", "I-PER"]
    # One byte of a vocabulary is another.
    path.write_bytes(path.read_bytes().replace(b"the\nof\n", b"thx\nof\n"))
    with pytest.raises(InputError, match=said):
        read_model_file(path)
    for name in ("settings.json", "labels.txt", "chars.txt"):
        with pytest.raises(InputError, match=rf"x\.tflite holds no {name}"):
            read_model_file(write(tmp_path, {key: FILES[key] for key in FILES if key != name}))
