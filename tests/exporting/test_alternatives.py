"""With ``return_alternatives`` every form of a tagger gives the most probable labels."""

import json

import numpy as np
import pytest

import uanet_lite
import uanet_tf
from tests.exporting.decided_tagger import decided_tagger
from tests.models.contract_setup import make_sentences, make_vocabulary, pad, small
from tests.serving.servers import in_thread
from uanet_tf.commands import runner
from uanet_tf.commands.tag_command import tag
from uanet_tf.config import Config
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import Signatures
from uanet_tf.exporting.tflite.tflite_export import export_tflite
from uanet_tf.exporting.verification import verify_tokens
from uanet_tf.models.build import make_tagger
from uanet_tf.models.labels import OutputLabels
from uanet_tf.serving.client import Client
from uanet_tf.serving.rest_api.lite_model import LiteModel
from uanet_tf.serving.rest_api.model_config import ModelSettings

SENTENCES = [list(sentence.tokens) for sentence in make_sentences("IOB2", 6)]
COUNT = 3
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    model = decided_tagger(return_alternatives=COUNT, return_probabilities=True)
    # Of draft labels and of refined ones, of entities and of "O": less sure, and surer.
    model.calibration.set_map(
        np.array([[0.8, -0.1, 0.0], [0.9, 0.1, 0.0], [1.2, 0, 0.1], [1, 0, 0]])
    )
    model.save(folder / "model.keras")
    (folder / "config.json").write_text(json.dumps(model.settings.to_dict()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(run_dir):
    return uanet_tf.load_model(run_dir)


@pytest.fixture(scope="module")
def tagged(model):
    return uanet_tf.tag(model, SENTENCES)


def assert_like(found, expected):
    """The same labels and probabilities, but that labels of about one probability may swap."""
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        known, least = dict(theirs), theirs[-1][1]
        assert [score for _, score in ours] == pytest.approx(
            [score for _, score in theirs], abs=TOLERANCE
        )
        for label, score in ours:
            assert score == pytest.approx(known.get(label, least), abs=TOLERANCE)


def reference(names, of_classes, p, class_id, label, confidence, calibrated):
    """The probabilities of all labels, and the masses, in plain Python."""
    mass = dict.fromkeys(names, 0.0)
    for number, value in enumerate(p):
        if number != class_id:
            mass[names[of_classes[number]]] += float(value)
    rest = sum(p) - p[class_id]
    scale = (1 - confidence) / max(rest, 1e-6) if calibrated else 1.0
    own = mass[label] + float(p[class_id])
    scores = {name: value * scale for name, value in mass.items()}
    scores = {
        name: min(score, confidence) if mass[name] <= own else score
        for name, score in scores.items()
    }
    return {**scores, label: confidence}, {**mass, label: own}


@pytest.mark.parametrize(
    ("scheme", "calibrated"), [(None, True), ("IOB1", True), ("IOB2", True), ("IOB2", False)]
)
def test_against_the_probabilities(scheme, calibrated):
    sentences = make_sentences(scheme, 6)
    config = small(Config().replace(refiner_layers=1, return_alternatives=4))
    model = make_tagger(config, make_vocabulary(sentences, scheme))
    model.return_probabilities, model.threshold = True, 0.5
    if calibrated:
        model.calibration.set_map(np.full([4, 3], [1.1, -0.2, 0.3]))
    names = model.label_names
    of_classes = OutputLabels(model.class_names, scheme).of_classes
    inputs = pad([list(sentence.tokens) for sentence in sentences], 1, "York")
    decision = model.decide(model.features(inputs))
    found = first = 0
    for row, answer in enumerate(uanet_tf.tag(model, [s.tokens for s in sentences])):
        for column, alternatives in enumerate(answer.alternatives):
            label, c = answer.labels[column], answer.confidence[column]
            ids = decision.label_ids[row, column].numpy()
            p = answer.probabilities[column]
            scores, mass = reference(names, of_classes, p, ids, label, c, calibrated)
            expected = sorted(scores.items(), key=lambda pair: -pair[1])[: min(4, len(names))]
            assert_like([alternatives], [expected])
            assert sum(scores.values()) <= 1 + 1e-6
            assert all(pair[1] == c for pair in alternatives if pair[0] == label)
            assert [pair[1] for pair in alternatives] == sorted(
                (pair[1] for pair in alternatives), reverse=True
            )
            if mass[label] >= max(mass.values()):
                assert alternatives[0] == (label, c)
                first += 1
            found += 1
    assert 0 < first <= found


def test_of_the_model(model, tagged):
    decided = 0
    for answer in tagged:
        assert [len(pairs) for pairs in answer.alternatives] == [COUNT] * len(answer)
        for pairs, label, confidence in zip(
            answer.alternatives, answer.labels, answer.confidence, strict=True
        ):
            assert {name for name, _ in pairs} <= set(model.label_names)
            decided += pairs[0] == (label, confidence)
    assert decided
    assert model.optional_answers == ("alternatives",)
    model.return_alternatives = 0
    try:
        without = uanet_tf.tag(model, SENTENCES)
        assert model.optional_answers == ()
    finally:
        model.return_alternatives = COUNT
    for one, other in zip(tagged, without, strict=True):
        assert other.alternatives is None
        assert (one.labels, one.confidence) == (other.labels, other.confidence)


def test_padding_and_batches_change_nothing(model, tagged):
    for tokens, answer in zip(SENTENCES, tagged, strict=True):
        (alone,) = uanet_tf.tag(model, [tokens])
        assert_like(alone.alternatives, answer.alternatives)
    outputs = model.predict(pad(SENTENCES, 3, "York"), verbose=0)
    mask = np.arange(outputs["labels"].shape[1]) < [[len(tokens)] for tokens in SENTENCES]
    assert not outputs["alternative_probabilities"][~mask].any()
    assert set(outputs["alternative_labels"][~mask].ravel()) == {b""}


def test_more_than_there_are_labels(model):
    model.return_alternatives = 1000
    try:
        (answer,) = uanet_tf.tag(model, SENTENCES[:1])
        assert {label for label, _ in answer.alternatives[0]} == set(model.label_names)
    finally:
        model.return_alternatives = COUNT


def test_of_signatures_and_their_client(model, run_dir, tagged, tmp_path):
    plain = uanet_tf.load_model(run_dir, return_probabilities=False)
    save_tokens(Signatures(plain), tmp_path / "1")
    verify_tokens(plain, tmp_path / "1", [])
    with in_thread([ModelSettings("mine", str(tmp_path))]) as url, Client(url, "mine") as client:
        for found, expected in zip(client.tag([*SENTENCES, []]), [*tagged, None], strict=True):
            assert_like(found.alternatives, expected.alternatives if expected else [])


@pytest.fixture(scope="module")
def lite_path(run_dir, tmp_path_factory):
    (written,) = export_tflite(run_dir, tmp_path_factory.mktemp("lite"))
    return written.path


def test_of_tensorflow_lite_files(lite_path, tagged):
    theirs = uanet_tf.tag(uanet_lite.Tagger(lite_path), SENTENCES)
    lite = uanet_lite.Tagger(lite_path)
    for one, other, third in zip(tagged, theirs, lite.tag(SENTENCES), strict=True):
        assert_like(other.alternatives, one.alternatives)
        assert_like(third.alternatives, one.alternatives)
        assert third.to_dict()["alternatives"] == other.to_dict()["alternatives"]
    assert lite.tag([[]])[0].alternatives == []


def test_of_tensorflow_lite_files_behind_a_server(lite_path, tagged):
    served = LiteModel(lite_path.parent)
    inputs = pad(SENTENCES, 2, "York")
    tokens = np.array([[each.encode() for each in row] for row in inputs["tokens"]], object)
    outputs = served.predict("", {**inputs, "tokens": tokens})
    shape = [*tokens.shape, COUNT]
    for name in ("alternative_labels", "alternative_probabilities"):
        assert list(outputs[name].shape) == shape
        assert len(served.metadata["serving_default"]["outputs"][name]["tensor_shape"]["dim"]) == 3
    for row, answer in enumerate(tagged):
        labels = outputs["alternative_labels"][row, : len(answer)]
        scores = outputs["alternative_probabilities"][row, : len(answer)]
        found = [
            [(label.decode(), score) for label, score in zip(*pair, strict=True)]
            for pair in zip(labels, scores, strict=True)
        ]
        assert_like(found, answer.alternatives)
    served.close()


def test_lines_of_json(run_dir, tagged, tmp_path):
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps({"tokens": each}) + "\n" for each in SENTENCES))
    flags = [f"--run_dir={run_dir}", f"--input={path}", f"--output={output}"]
    assert runner.exit_code(tag, ["tag", *flags, "--return_alternatives=2"]) == 0
    for line, answer in zip(output.read_text().splitlines(), tagged, strict=True):
        pairs = json.loads(line)["alternatives"]
        assert_like(pairs, [each[:2] for each in answer.alternatives])
        (again,) = uanet_tf.tag(uanet_tf.load_model(run_dir), [answer.tokens])
        assert (
            json.loads(json.dumps(again.to_dict()))["alternatives"]
            == again.to_dict()["alternatives"]
        )
