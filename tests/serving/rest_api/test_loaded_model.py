"""A SavedModel that is served."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.servers import ROOT
from uanet_tf.errors import InputError
from uanet_tf.files.checksums import write_checksums
from uanet_tf.serving.rest_api import loaded_model
from uanet_tf.serving.rest_api.loaded_model import LoadedModel, read_gate
from uanet_tf.serving.rest_api.rest_error import RestError


def strings(rows):
    return np.array([[word.encode() for word in row] for row in rows], dtype=object)


SENTENCES = {
    "tokens": strings([["the", "Chelsea", "Wanderers"], ["a", "b", "x"]]),
    "lengths": np.array([3, 2], np.int32),
}


@pytest.fixture(scope="module")
def model(toy_folder):
    return LoadedModel(toy_folder / "uanet" / "1")


@pytest.fixture(scope="module")
def types(types_folder):
    return LoadedModel(types_folder / "types" / "7", timeout_ms=500)


def test_answers_are_in_full_float32(toy_folder, full_float32):
    LoadedModel(toy_folder / "uanet" / "1")
    assert full_float32()


def test_answers_as_tensorflow_does(model, toy_folder):
    outputs = model.predict("", SENTENCES)
    assert outputs["labels"].tolist() == [[b"O", b"B-ORG", b"I-ORG"], [b"O", b"O", b""]]
    reference = tf.saved_model.load(str(toy_folder / "uanet" / "1")).signatures["serving_default"]
    expected = reference(**{name: tf.constant(value) for name, value in SENTENCES.items()})
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        if value.dtype == tf.float32:  # one graph is optimized, the other not
            np.testing.assert_allclose(outputs[name], value.numpy(), rtol=2e-7)
        else:
            np.testing.assert_array_equal(outputs[name], value.numpy())


def test_variables_tables_and_other_signatures(model):
    outputs = model.predict("with_threshold", {**SENTENCES, "threshold": np.float32([9, 0])})
    assert outputs["labels"][0].tolist() == [b"O", b"B-PER", b"I-PER"]
    assert outputs["confidence"][0, 0] == 1.0
    assert model.predict("draft", SENTENCES).keys() == {"labels", "uncertainty"}


def test_gamma(tmp_path):
    assert read_gate(tmp_path) is None
    file = tmp_path / "assets.extra" / "gate.json"
    file.parent.mkdir()
    file.write_text('{"threshold": 1}')
    assert read_gate(tmp_path) == 1.0
    for text in ("{", "[]", "{}", '{"threshold": "a"}', '{"threshold": -1}', '{"threshold": true}'):
        file.write_text(text)
        with pytest.raises(InputError, match=r"gate\.json: "):
            read_gate(tmp_path)


def test_a_version_that_was_changed_after_its_export(toy_folder, tmp_path):
    """A byte of the graph may change answers without any error of TensorFlow."""
    path = tmp_path / "1"
    shutil.copytree(toy_folder / "uanet" / "1", path)
    (path / "assets.extra").mkdir(exist_ok=True)
    write_checksums(path)
    LoadedModel(path)
    graph = bytearray((path / "saved_model.pb").read_bytes())
    for position in range(7, len(graph), len(graph) // 20):
        changed = graph.copy()
        changed[position] ^= 0x10
        (path / "saved_model.pb").write_bytes(changed)
        with pytest.raises(InputError, match=r"saved_model\.pb: is not what was exported"):
            LoadedModel(path)


def test_inputs_and_metadata(model):
    assert model.input_types("") == {"lengths": "int32", "tokens": "string"}
    assert set(model.metadata) == {
        "__saved_model_init_op",
        "serving_default",
        "with_threshold",
        "draft",
        "ids",
    }
    tokens = model.metadata["draft"]["inputs"]["tokens"]
    assert tokens["dtype"] == "DT_STRING"
    assert tokens["tensor_shape"] == {
        "dim": [{"size": "-1", "name": ""}] * 2,
        "unknown_rank": False,
    }
    assert model.metadata["draft"]["method_name"] == "tensorflow/serving/predict"


@pytest.mark.parametrize("name", ["nope", "__saved_model_init_op"])
def test_signatures_that_are_not_there(model, name):
    with pytest.raises(RestError) as caught:
        model.input_types(name)
    assert caught.value.status == 400


def test_what_the_model_refuses_is_a_bad_request(model):
    with pytest.raises(RestError, match="A length is beyond the width") as caught:
        model.predict("", {**SENTENCES, "lengths": np.int32([3, 4])})
    assert caught.value.status == 400


def test_a_run_that_takes_too_long_is_stopped(types):
    assert types.predict("slow", {"x": np.float32([3])})["y"].tolist() == [3.0]
    with pytest.raises(RestError) as caught:
        types.predict("slow", {"x": np.float32([1e9])})
    assert caught.value.status == 504
    assert types.predict("slow", {"x": np.float32([3])})["y"].tolist() == [3.0]


@pytest.mark.parametrize(
    ("name", "kept", "said"),
    [
        ("saved_model.pb", None, r"saved_model\.pb: cannot be read"),
        ("saved_model.pb", -10, r"saved_model\.pb"),
        ("saved_model.pb", -1000, r"saved_model\.pb"),
        ("variables/variables.data-00000-of-00001", None, "cannot be restored"),
        ("variables/variables.data-00000-of-00001", 3, "cannot be restored"),
        ("variables/variables.index", None, r"variables\.index: is missing"),
    ],
)
def test_damaged_or_half_copied_files(toy_folder, tmp_path, name, kept, said):
    file = shutil.copytree(toy_folder / "uanet" / "1", tmp_path / "1") / name
    if kept is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(InputError, match=said) as error:
        LoadedModel(tmp_path / "1")
    assert "Graph execution error" not in str(error.value)


def test_a_model_of_another_writer_without_weights(tmp_path):
    """It has no file of variables, and misses none."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [None])
        tf.compat.v1.saved_model.simple_save(session, str(tmp_path / "1"), {"x": x}, {"y": x + 1.0})
    assert not list((tmp_path / "1" / "variables").glob("*"))
    model = LoadedModel(tmp_path / "1")
    assert model.predict("", {"x": np.float32([1, 2])})["y"].tolist() == [2.0, 3.0]


PROGRAM = """
import sys
import numpy as np
from uanet_tf.serving.rest_api.loaded_model import LoadedModel

folder = sys.argv[1]
tokens = {"tokens": np.array([[b"The"]], dtype=object), "lengths": np.int32([1])}
print(LoadedModel(f"{folder}/uanet/1").predict("", tokens)["labels"].tolist())
print("tensorflow_text" in sys.modules)
text = {"text": np.array(["The \\u00c9toile won".encode()], dtype=object)}
print(LoadedModel(f"{folder}/uanet_text/1").predict("", text)["labels"].tolist())
print("tensorflow_text" in sys.modules)
"""


def test_tensorflow_text_is_loaded_only_for_a_model_that_needs_it(toy_folder):
    command = [sys.executable, "-c", PROGRAM, str(toy_folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.stdout.splitlines() == [
        "[[b'B-PER']]",
        "False",
        "[[b'B-PER', b'I-ORG', b'O']]",
        "True",
    ], done.stderr


def test_without_tensorflow_text(toy_folder, monkeypatch):
    def unknown(meta_graph):
        raise tf.errors.NotFoundError(None, None, "Op type not registered 'RegexSplit' in binary")

    monkeypatch.setattr(loaded_model, "_new_graph", unknown)
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(InputError, match=r"'RegexSplit'.*tensorflow-text, which is not installed"):
        LoadedModel(toy_folder / "uanet_text" / "1")
