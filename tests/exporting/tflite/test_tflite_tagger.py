"""Tagging strings with a TensorFlow Lite file: in this process, and from outside."""

import json
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.lite.tools import flatbuffer_utils

import uanet_lite
from tests.models.contract_setup import make_sentences, make_vocabulary, small
from uanet_lite.model_file import read_model_file
from uanet_lite.token_ids import TokenLookup
from uanet_tf.commands.export_command import export
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.exporting.tflite import tflite_export as files_module
from uanet_tf.exporting.tflite.conversion import FLOAT32
from uanet_tf.exporting.tflite.tflite_export import Agreement, export_tflite, tagger_files
from uanet_tf.exporting.verification import ExportMismatchError
from uanet_tf.models.build import make_tagger

ROOT = Path(__file__).resolve().parents[3]
ODD = [
    "Ωmega",
    "東京",
    "\U0001f600",
    "٣,٥",
    "1984",
    "x" * 200,
    "a\rb",
    "c\td",
    "Iİ",
    " ",
    "e\u2028f",
]


@pytest.fixture(scope="module")
def tagger(path):
    return uanet_lite.Tagger(path)


@pytest.fixture
def converted(tflite_files, monkeypatch):
    """The conversion, which takes its time, gives what it gave before."""

    def convert(model, precisions):
        del model
        return {name: tflite_files[name].path.read_bytes() for name in precisions}

    monkeypatch.setattr(files_module, "convert", convert)


def test_padding_of_a_batch(tagger):
    tokens = np.array([["Oslo", "", ""], ["", "", ""], ["a", "b", "c"]], object)
    outputs = tagger.tag_batch(tokens, np.array([1, 0, 3], np.int32))
    for values in outputs.values():
        assert values.shape == (3, 3)
        assert not values[0, 1:].any()
        assert not values[1].any()
    alone = tagger.tag_batch(tokens[2:], np.array([3], np.int32))
    for name, values in outputs.items():
        np.testing.assert_array_equal(values[2], alone[name][0])


def test_ids_of_other_shapes_are_refused(tagger):
    word_ids, char_ids = tagger.ids(["a", "b"])
    for words, chars in (
        (word_ids, char_ids),
        (np.stack([word_ids, word_ids]), np.stack([char_ids, char_ids])),
        (word_ids[np.newaxis], char_ids[np.newaxis, :1]),
    ):
        with pytest.raises(ValueError, match=r"`word_ids` must be \[1, T\]"):
            tagger.run(words, chars)
    with pytest.raises(InputError, match=r"does not fit its own vocabulary: .*out of bounds"):
        tagger.run(word_ids[np.newaxis] + 10**6, char_ids[np.newaxis])
    assert tagger.run(word_ids[np.newaxis], char_ids[np.newaxis])["refined"].shape == (1, 2)


def test_words_that_no_line_can_hold(tmp_path):
    """They come with pretrained vectors; ids must not move."""
    vocabulary = make_vocabulary(make_sentences("IOB2"), "IOB2").to_dict()
    vocabulary["words"][1:1] = ["a\nb", ""]
    vocabulary["word_counts"][1:1] = [0, 0]
    config = small(Config().replace(representation="words", decoder="softmax"))
    model = make_tagger(config, Vocabulary.from_dict(vocabulary))
    files = tagger_files(model, FLOAT32)
    assert "words.txt" not in files
    assert json.loads(files["settings.json"])["words"] == vocabulary["words"]
    path = tmp_path / "lookup.tflite"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    found = read_model_file(path)
    lookup = TokenLookup(found.words, found.chars, digits=True, lowercase=False, max_chars=40)
    tokens = [*vocabulary["words"], "never"]
    np.testing.assert_array_equal(lookup(tokens)[0], model.lookup(tf.constant(tokens))[0])


def repacked(path, target, **changes):
    """The file with other files behind it; None leaves one out."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
        start = min(item.header_offset for item in archive.infolist())
    target.write_bytes(path.read_bytes()[:start])
    with zipfile.ZipFile(target, "a") as archive:
        for name, content in {**files, **changes}.items():
            if content is not None:
                archive.writestr(name, content)
    return target


def test_operations_of_tensorflow_are_refused(path, tmp_path):
    """TensorFlow's interpreter would run them, and some write files."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
        start = min(item.header_offset for item in archive.infolist())
    tree = flatbuffer_utils.convert_bytearray_to_object(bytearray(path.read_bytes()[:start]))
    code = tree.operatorCodes[0]
    code.builtinCode, code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM, 32
    code.customCode = b"FlexWriteFile"
    target = tmp_path / "hostile.tflite"
    target.write_bytes(flatbuffer_utils.convert_object_to_bytearray(tree))
    with zipfile.ZipFile(target, "a") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=r"hostile\.tflite holds the operation 'FlexWriteFile'"):
        uanet_lite.Tagger(target)


# ------------------------------------------------------------------------- exporting


@pytest.mark.process
def test_a_run_without_its_development_file(trained_run, tmp_path, monkeypatch):
    """It is compared on generated sentences; and Gamma, M and refine_all are the caller's."""
    load = files_module.load_for_export

    def without_file(*arguments, **settings):
        model = load(*arguments, **settings)
        model.settings = model.settings.replace(dev_path=str(tmp_path / "gone.conll"))
        return model

    monkeypatch.setattr(files_module, "load_for_export", without_file)
    (written,) = export_tflite(
        trained_run, tmp_path, name="x", num_samples=0, threshold=0.7, refine_all=True
    )
    gone = tmp_path / "gone.conll"
    said = f"generated sentences, since the run's development file {gone} is not found"
    assert written.agreement.source == said
    assert written.agreement.same == 1.0
    settings = uanet_lite.Tagger(written.path).settings
    assert (settings["num_samples"], settings["threshold"]) == (0, 0.7)
    assert settings["refine_all"]


def test_the_development_file_is_found_from_any_folder(tmp_path, monkeypatch):
    """Its path is of the folder that the run was trained from, which the run mostly lies in."""
    data, run_dir = tmp_path / "project" / "data", tmp_path / "project" / "runs" / "mine"
    data.mkdir(parents=True)
    run_dir.mkdir(parents=True)
    (data / "dev.conll").write_text("Oslo B-LOC\n\nwon O\n", encoding="utf-8")
    model = SimpleNamespace(settings=Config().replace(dev_path="data/dev.conll"))
    for here in (tmp_path / "project", tmp_path, run_dir):
        monkeypatch.chdir(here)
        found = files_module._comparison_sentences(model, os.path.relpath(run_dir))
        assert found == ([["Oslo"], ["won"]], "dev.conll")


@pytest.mark.usefixtures("converted")
def test_a_wrong_file_does_not_take_its_name(trained_run, tmp_path, monkeypatch):
    (tmp_path / "uanet.tflite").write_text("an older one")
    wrong = Agreement(10, "here", same=0.9, same_where_refined=0.9, uncertainty_error=0.0)
    monkeypatch.setattr(files_module, "compare", lambda *_: wrong)
    with pytest.raises(ExportMismatchError, match=r"90\.00 % of 10 labels"):
        export_tflite(trained_run, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["uanet.tflite"]
    assert (tmp_path / "uanet.tflite").read_text() == "an older one"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tflite", "--version=3"], "--version goes with SavedModels"),
        (["--quantize"], "--quantize goes with --tflite."),
        (["--tflite", "--name=a/b"], "--name must be letters"),
        (["--tflite", "--export_dir=/dev/null/x"], "/dev/null/x cannot be written"),
    ],
)
def test_wrong_arguments_of_export(call, trained_run, tmp_path, arguments, said, monkeypatch):
    monkeypatch.setattr(files_module, "convert", lambda *_: {FLOAT32: b""})
    target = tmp_path / "out"
    code, out, err = call(export, f"--run_dir={trained_run}", f"--export_dir={target}", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not target.exists()


@pytest.mark.usefixtures("converted")
def test_export_prints_the_agreement(call, trained_run, tmp_path):
    code, out, _ = call(
        export, f"--run_dir={trained_run}", f"--export_dir={tmp_path}", "--tflite", "--name=m"
    )
    assert code == 0
    assert out.startswith(f"{tmp_path / 'm.tflite'}: ")
    assert " MB, float32, 100.00 % of " in out
    assert out.endswith(" nats (dev.conll)\n")
    assert [file.name for file in tmp_path.iterdir()] == ["m.tflite"]
