"""The files behind the graph of a TensorFlow Lite file."""

import json
import zipfile

import pytest
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

import uanet_tf
from uanet_lite.token_ids import FIRST_ID
from uanet_tf.exporting.tflite.conversion import PRECISIONS

FILES = ["settings.json", "labels.txt", "words.txt", "chars.txt"]


@pytest.fixture(scope="module")
def model(trained_run):
    return uanet_tf.load_model(trained_run)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_arrays_stand_where_the_processor_reads_them_fast(tflite_files, precision):
    content = tflite_files[precision].path.read_bytes()
    tree = schema.Model.GetRootAs(content, 0)
    large = 0
    for number in range(tree.BuffersLength()):
        buffer = tree.Buffers(number)
        if buffer.DataLength():
            place = buffer._tab.Vector(buffer._tab.Offset(4))
            large += buffer.DataLength() >= 1024
            assert place % (64 if buffer.DataLength() >= 1024 else 16) == 0
    assert large > 10


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_files_are_a_zip_archive(tflite_files, model, precision):
    path = tflite_files[precision].path
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == FILES
        assert archive.testzip() is None
        assert {item.compress_type for item in archive.infolist()} == {zipfile.ZIP_STORED}
        texts = {name: archive.read(name).decode() for name in FILES}
    assert texts["labels.txt"].splitlines() == model.label_names
    words = texts["words.txt"].split("\n")
    word = model.vocabulary.words[7]
    word_ids, char_ids = model.lookup(tf.constant([word]))
    assert words[int(word_ids[0]) - FIRST_ID] == word
    chars = [line.split("\t")[0] for line in texts["chars.txt"].splitlines()]
    assert [int(chars[k - FIRST_ID]) for k in char_ids[0].numpy()] == list(map(ord, word))
    settings = json.loads(texts["settings.json"])
    assert settings["precision"] == precision
    assert settings["threshold"] == 0.35
    assert settings["label_scheme"] == "IOB2"
    assert not settings["refine_all"]
