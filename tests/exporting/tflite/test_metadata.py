"""Metadata of TensorFlow Lite files: read as tflite-support reads them, and as a zip archive."""

import json
import zipfile

import flatbuffers
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

import uanet_tf
from uanet_lite.token_ids import FIRST_ID
from uanet_tf.exporting.tflite.conversion import FLOAT32, PRECISIONS

FILES = ["settings.json", "labels.txt", "words.txt", "chars.txt"]


class Table:
    """A table of a flatbuffer, read by the numbers of its fields."""

    def __init__(self, content, position):
        self._table = flatbuffers.table.Table(content, position)

    def _field(self, slot):
        return self._table.Offset(4 + 2 * slot)

    def text(self, slot):
        offset = self._field(slot)
        return self._table.String(self._table.Pos + offset).decode() if offset else None

    def number(self, slot):
        flags = flatbuffers.number_types.Int8Flags
        offset = self._field(slot)
        return self._table.Get(flags, self._table.Pos + offset) if offset else 0

    def _positions(self, slot):
        offset = self._field(slot)
        if not offset:
            return []
        start = self._table.Vector(offset)
        return [start + 4 * k for k in range(self._table.VectorLen(offset))]

    def tables(self, slot):
        return [
            Table(self._table.Bytes, self._table.Indirect(place)) for place in self._positions(slot)
        ]

    def texts(self, slot):
        return [self._table.String(place).decode() for place in self._positions(slot)]


@pytest.fixture(scope="module")
def model(trained_run):
    return uanet_tf.load_model(trained_run)


@pytest.fixture(scope="module")
def content(tflite_files):
    return tflite_files[FLOAT32].path.read_bytes()


@pytest.fixture(scope="module")
def metadata(content):
    tree = schema.Model.GetRootAs(content, 0)
    entries = {tree.Metadata(i).Name(): tree.Metadata(i) for i in range(tree.MetadataLength())}
    buffer = tree.Buffers(entries[b"TFLITE_METADATA"].Buffer()).DataAsNumpy().tobytes()
    assert buffer[4:8] == b"M001"
    root = flatbuffers.encode.Get(flatbuffers.packer.uoffset, buffer, 0)
    return Table(buffer, root)


def test_the_model_says_what_it_is(metadata):
    assert metadata.text(0) == "small"
    assert metadata.text(1) == (
        "Labels the tokens of one sentence (uanet), with an uncertainty for each. "
        "Weights: float32. settings.json defines how tokens become ids."
    )
    assert metadata.text(7) == "1.0.1"
    (settings,) = metadata.tables(6)
    assert (settings.text(0), settings.number(2)) == ("settings.json", 1)


def test_tensors_are_explained_in_the_order_of_the_graph(metadata, content):
    tree = schema.Model.GetRootAs(content, 0)
    assert tree.SignatureDefsLength() == 2
    subgraphs = metadata.tables(3)
    assert [subgraph.text(0) for subgraph in subgraphs] == ["serving_default", "draft"]
    for number in range(2):
        definition = tree.SignatureDefs(number)
        index = definition.SubgraphIndex()
        graph, described = tree.Subgraphs(index), subgraphs[index]
        assert definition.SignatureKey().decode() == described.text(0)
        for slot, maps, count, order in (
            (2, definition.Inputs, definition.InputsLength(), graph.InputsAsNumpy()),
            (3, definition.Outputs, definition.OutputsLength(), graph.OutputsAsNumpy()),
        ):
            names = {(maps(k).TensorIndex(), maps(k).Name().decode()) for k in range(count)}
            told = [tensor.text(0) for tensor in described.tables(slot)]
            assert set(zip(order, told, strict=True)) == names
            assert len(names) == count == len(order)


def test_the_first_subgraph_is_that_of_all_answers(content):
    """It is what runs where no signature is named, as old examples do."""
    interpreter = tf.lite.Interpreter(model_content=content)
    inputs = {item["name"]: item["index"] for item in interpreter.get_input_details()}
    for name, shape in (("word_ids", [1, 5]), ("char_ids", [1, 5, 7])):
        interpreter.resize_tensor_input(inputs[f"serving_default_{name}:0"], shape)
    interpreter.allocate_tensors()
    for name, shape in (("word_ids", [1, 5]), ("char_ids", [1, 5, 7])):
        interpreter.set_tensor(inputs[f"serving_default_{name}:0"], np.ones(shape, np.int32))
    interpreter.invoke()
    outputs = [interpreter.get_tensor(item["index"]) for item in interpreter.get_output_details()]
    assert [values.shape for values in outputs] == [(1, 5)] * 6


def test_files_belong_to_tensors(metadata):
    serving = metadata.tables(3)[0]
    found = {
        tensor.text(0): [(file.text(0), file.number(2)) for file in tensor.tables(6)]
        for tensor in serving.tables(2) + serving.tables(3)
    }
    assert found == {
        "word_ids": [("words.txt", 5)],
        "char_ids": [("chars.txt", 5)],
        "label_ids": [("labels.txt", 3)],
        "draft_label_ids": [("labels.txt", 3)],
        "refined_label_ids": [("labels.txt", 3)],
        "uncertainty": [],
        "confidence": [],
        "refined": [],
    }
    axes = {tensor.text(0): tensor.texts(2) for tensor in serving.tables(2)}
    assert axes["char_ids"] == ["batch", "token", "character"]


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
