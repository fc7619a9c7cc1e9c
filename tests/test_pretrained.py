"""Models that come with the package: found by name, small, and what their cards say."""

import json
import re

import numpy as np
import pytest

import uanet_tf
from tools.pack_model import BITS, rounded
from uanet_tf.commands import runner
from uanet_tf.commands.tag_command import tag
from uanet_tf.config import from_dict
from uanet_tf.resources.shipped import FOLDER, find_run, shipped_models
from uanet_tf.tagging.monitor import LABEL, UNCERTAINTY, UNKNOWN_WORDS, Reference

NAME, NAMES = "en_ewt_pos", "en_ner"
TEXT = "The old dog slept. Nobody saw it!"
LABELS = [["DT", "JJ", "NN", "VBD", "."], ["NN", "VBD", "PRP", "."]]
# Uncertainty and confidence of each token, by Python 3.11.
NATS = [0.00228, 0.016532, 0.002903, 0.598901, 0.000605, 0.283627, 0.017041, 0.009975, 0.000367]
SURE = [0.999404, 0.996221, 0.999269, 0.920588, 0.99981, 0.927034, 0.996433, 0.99778, 0.999888]


@pytest.fixture(scope="module")
def model():
    return uanet_tf.load_model(NAME)


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Tags ``TEXT`` in an empty folder; returns exit code, answers and messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text(TEXT + "\n", encoding="utf-8")

    def call(*arguments):
        arguments = ("tag", "--input=in.txt", "--output_format=jsonl", *arguments)
        code = runner.exit_code(tag, list(arguments))
        out, err = capsys.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], err

    return call


def test_names():
    assert NAME in shipped_models()
    assert find_run(NAME) == FOLDER / NAME


def test_a_directory_of_that_name_goes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).mkdir()
    assert not find_run(NAME).is_absolute()
    assert find_run("runs/mine").parts == ("runs", "mine")


def test_it_tags_alike_on_every_python(model):
    tagged = uanet_tf.tag(model, TEXT, split_sentences=True)
    assert [list(sentence.labels) for sentence in tagged] == LABELS
    for name, expected in (("uncertainty", NATS), ("confidence", SURE)):
        found = [number for sentence in tagged for number in getattr(sentence, name)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("option", ["model", "run_dir"])
def test_by_name_from_the_command_line(call, option):
    code, answers, err = call(f"--{option}={NAME}", "--split_sentences")
    assert (code, err) == (0, "")
    assert [label for answer in answers for label in answer["labels"]] == [*LABELS[0], *LABELS[1]]


def test_a_stream_can_be_compared_with_its_development_data():
    metrics = json.loads((FOLDER / NAME / "metrics.json").read_text("utf-8"))
    reference = Reference.from_dict(metrics["monitoring"])
    assert reference.size == 1001  # half of the 2,001 sentences
    kinds = {trait.kind for trait in reference.traits}
    assert kinds == {UNCERTAINTY, UNKNOWN_WORDS, LABEL}


def test_two_models_are_refused(call):
    code, answers, err = call(f"--model={NAME}", "--run_dir=runs/mine")
    assert (code, answers) == (2, [])
    assert "give one of them" in err


def test_small_and_without_a_machines_paths(model):
    files = {path.name: path for path in (FOLDER / NAME).iterdir()}
    assert set(files) == {"README.md", "config.json", "metrics.json", "model.keras"}
    assert sum(path.stat().st_size for path in files.values()) < 5_000_000
    config = json.loads(files["config.json"].read_text("utf-8"))
    assert from_dict(config) == model.settings
    paths = [value for value in config["data"].values() if "/" in str(value)]
    assert paths == []


def test_the_card_names_licence_command_and_scores(model):
    card = (FOLDER / NAME / "README.md").read_text("utf-8")
    for part in ("CC BY-SA 4.0", "UD_English-EWT", "python train.py", "tools/pack_model.py"):
        assert part in card
    metrics = json.loads((FOLDER / NAME / "metrics.json").read_text("utf-8"))
    assert f"{100 * metrics['test']['accuracy']:.2f}" in re.findall(r"\d\d\.\d\d", card)
    assert f"{sum(weight.shape.num_elements() for weight in model.trainable_weights):,}" in card


def test_names_of_people_places_and_organisations():
    """The first command of README; it answers in one pass and accepts what it is sure of."""
    model = uanet_tf.load_model(NAMES)
    text = "Ada Lovelace met Charles Babbage in London. Nobody was surprised."
    (first, second) = uanet_tf.tag(model, text, split_sentences=True)
    found = [(entity.text, entity.type) for entity in first.entities]
    assert found == [("Ada Lovelace", "PER"), ("Charles Babbage", "PER"), ("London", "LOC")]
    assert not second.entities
    assert model.sampling == "distilled"
    assert model.targets == {"precision": 0.9}
    files = {path.name: path for path in (FOLDER / NAMES).iterdir()}
    assert set(files) == {"README.md", "config.json", "metrics.json", "model.keras"}
    assert sum(path.stat().st_size for path in files.values()) < 8_000_000
    card = files["README.md"].read_text("utf-8")
    for part in ("CC BY-SA 4.0", "CC BY-SA 3.0", "Wikigold", "WNUT-17", "What it is bad at"):
        assert part in card


def test_rounding():
    values = np.array([0.0, 1.0, -0.1, 3e-9, 257.5, -1023.0, 1 + 2**-9], np.float32)
    kept = rounded(values)
    assert kept.dtype == np.float32
    np.testing.assert_allclose(kept, values, rtol=2.0**-BITS)
    assert (np.ldexp(np.frexp(kept)[0], BITS) % 1 == 0).all()
    np.testing.assert_array_equal(kept[[0, 1]], [0.0, 1.0])


def test_its_weights_are_rounded_and_gamma_is_not(model):
    for weight in model.trainable_weights:
        np.testing.assert_array_equal(rounded(weight.numpy()), weight)
    assert model.threshold == 0.35
