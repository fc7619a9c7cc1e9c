"""Every answer of the table says the same in every form that a tagger takes."""

import json

import numpy as np
import pytest
import tensorflow as tf

import uanet_lite
import uanet_tf
from tests.exporting.decided_tagger import decided_tagger
from tests.models.contract_setup import make_sentences, make_vocabulary, pad, small
from tests.serving.servers import in_thread
from uanet_lite.answers import IN_GRAPHS, IN_TEXT, TARGET_PRECISION, answers, tensors
from uanet_lite.tagged_sentence import Candidate
from uanet_tf.commands import runner
from uanet_tf.commands.tag_command import tag
from uanet_tf.config import Config
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import POSITIONS, Signatures, entity_signature
from uanet_tf.exporting.tflite.tflite_export import export_tflite
from uanet_tf.exporting.verification import as_text, verify_tokens
from uanet_tf.models.build import make_tagger
from uanet_tf.models.labels import OutputLabels
from uanet_tf.models.sampling import sampling_seed
from uanet_tf.serving.client import Client
from uanet_tf.serving.rest_api.lite_model import LiteModel
from uanet_tf.serving.rest_api.model_config import ModelSettings

SENTENCES = [list(sentence.tokens) for sentence in make_sentences("IOB2", 12)]
INPUTS = pad(SENTENCES, 3, "York")
MASK = np.arange(INPUTS["tokens"].shape[1]) < INPUTS["lengths"][:, None]
MAP = [[0.5, -0.5, 0.5], [1.5, 0.25, 0.0], [0.75, 0.5, 1.0], [1.0, -1.0, -0.5]]
COUNT = 3
OPTIONAL = answers(optional=True)


def call(model):
    """Without a graph, which would take most of the time."""
    return {name: values.numpy() for name, values in model(INPUTS).items()}


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """Untrained: half of the tokens are refined, and many labels are accepted."""
    folder = tmp_path_factory.mktemp("run")
    names = ("mutual_information", "probabilities", "candidates")
    options = {f"return_{name}": True for name in names}
    model = decided_tagger(representation="words", return_alternatives=COUNT, **options)
    model.threshold = float(np.median(call(model)["uncertainty"][MASK]))
    model.calibration.set_map(MAP)
    found = call(model)
    sure = np.sort(found["confidence"][MASK & (found["labels"] != b"O")])
    sure = sure[len(sure) // 4 : -len(sure) // 4]
    gap = np.argmax(np.diff(sure))  # rounding may not decide
    thresholds = np.full(len(model.class_names), sure[gap : gap + 2].mean())
    thresholds[model.class_names.index("O")] = 2.0
    model.acceptance.set_target(0.875, thresholds)
    model.candidates.set_target(0.5, np.array([0.07, 0.08]))
    model.save(folder / "model.keras")
    (folder / "config.json").write_text(json.dumps(model.settings.to_dict()), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(run_dir):
    return uanet_tf.load_model(run_dir)


@pytest.fixture(scope="module")
def tagged(model):
    return uanet_tf.tag(model, SENTENCES)


@pytest.fixture(scope="module")
def lite_path(run_dir, tmp_path_factory):
    (written,) = export_tflite(run_dir, tmp_path_factory.mktemp("lite"))
    return written.path


def assert_same(found, expected, reach):
    """The same answers, but that labels of about one probability may swap their ranks."""
    for answer in answers(reach):
        ours, theirs = getattr(found, answer.name), getattr(expected, answer.name)
        if answer.name == "alternatives":
            assert_alternatives(ours, theirs)
        elif answer.name == "candidates":
            assert_candidates(ours or [], theirs if ours is not None else [])
        elif isinstance(theirs[0], float):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5, err_msg=answer.name)
        else:
            assert ours == theirs, answer.name
    assert [entity[:6] for entity in found.entities] == [e[:6] for e in expected.entities]
    for ours, theirs in zip(found.entities, expected.entities, strict=True):
        assert ours.to_dict() == pytest.approx(theirs.to_dict(), abs=1e-5)


def assert_candidates(found, expected):
    assert [each[:6] for each in found] == [each[:6] for each in expected]
    scores = [[each.probability for each in spans] for spans in (found, expected)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)


def assert_alternatives(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        known, least = dict(theirs), theirs[-1][1]
        assert [each[1] for each in ours] == pytest.approx([each[1] for each in theirs], abs=1e-5)
        for label, score in ours:
            assert score == pytest.approx(known.get(label, least), abs=1e-5)


# ------------------------------------------------------------------------- what they are


@pytest.mark.parametrize("answer", OPTIONAL, ids=lambda answer: answer.name)
def test_only_where_it_is_asked_for(model, answer):
    option = "calibrated" if answer.needs == TARGET_PRECISION else answer.needs
    everything, before = call(model), getattr(model, option)
    assert model.optional_answers == tuple(each.name for each in answers(IN_TEXT, optional=True))
    setattr(model, option, type(before)(0))
    try:
        without = call(model)
        assert answer.name not in model.optional_answers
        assert {each.name for each in answer.tensors} == set(everything) - set(without)
    finally:
        setattr(model, option, before)
    for name, values in without.items():
        assert not any(values[~MASK].ravel().tolist())
        if option != "calibrated":
            np.testing.assert_array_equal(values, everything[name])


def test_mutual_information(model):
    """The information of samples that are drafted one by one, in NumPy."""
    features = model.features({name: tf.constant(values) for name, values in INPUTS.items()})
    drafter = model.drafter
    states = drafter.sample_states(
        drafter.word_vectors(features), MASK, model.num_samples, sampling_seed(model.mc_seed)
    )
    samples = drafter.decoder.decide(states, MASK).samples.numpy()
    entropies = -(samples * np.log(samples)).sum(-1).mean(0)
    mean = samples.mean(0)
    expected = np.where(MASK, -(mean * np.log(mean)).sum(-1) - entropies, 0.0)
    found = call(model)
    np.testing.assert_allclose(found["mutual_information"], expected, atol=1e-6)
    assert np.median(expected[MASK]) > 1e-3
    assert (found["uncertainty"] - found["mutual_information"])[MASK].min() > -1e-6


def test_accepted(model):
    found = call(model)
    assert found["accepted"].dtype == bool
    assert 0.05 < found["accepted"][MASK].mean() < 0.95
    assert not found["accepted"][found["labels"] == b"O"].any()


def probabilities(names, of_classes, p, class_id, label, confidence, calibrated):
    """Those of all labels, and their masses, in plain Python."""
    mass = dict.fromkeys(names, 0.0)
    for number, value in enumerate(p):
        if number != class_id:
            mass[names[of_classes[number]]] += float(value)
    rest, own = sum(p) - p[class_id], mass[label] + float(p[class_id])
    scale = (1 - confidence) / max(rest, 1e-6) if calibrated else 1.0
    scores = {name: value * scale for name, value in mass.items()}
    for name in names:
        if mass[name] <= own:
            scores[name] = min(scores[name], confidence)
    return {**scores, label: confidence}, {**mass, label: own}


def mass_of(names, of_classes, p):
    """The probability of each label, in plain Python."""
    return [
        (
            name,
            sum(
                float(value)
                for number, value in zip(of_classes, p, strict=True)
                if names[number] == name
            ),
        )
        for name in names
    ]


@pytest.mark.parametrize(
    ("scheme", "calibrated"), [(None, True), ("IOB1", True), ("IOB2", True), ("IOB2", False)]
)
def test_alternatives(scheme, calibrated):
    sentences = [list(sentence.tokens) for sentence in make_sentences(scheme, 6)]
    light = {"representation": "words", "encoder": "none"}
    config = small(Config().replace(**light, return_alternatives=4))
    model = make_tagger(config, make_vocabulary(make_sentences(scheme, 6), scheme))
    model.return_probabilities, model.threshold = True, 0.5
    if calibrated:
        model.calibration.set_map(np.full([4, 3], [1.1, -0.2, 0.3]))
    names = model.label_names
    of_classes = OutputLabels(model.class_names, scheme).of_classes
    decision = model.decide(model.features(pad(sentences, 1, "York")))
    ids, of_class = decision.label_ids.numpy(), decision.probabilities.numpy()
    first = 0
    for row, answer in enumerate(uanet_tf.tag(model, sentences)):
        for column, found in enumerate(answer.alternatives):
            label, c = answer.labels[column], answer.confidence[column]
            p = of_class[row, column]
            scores, mass = probabilities(
                names, of_classes, p, ids[row, column], label, c, calibrated
            )
            told = {**dict.fromkeys(names, 0.0), **answer.probabilities[column]}
            assert told == pytest.approx(dict(mass_of(names, of_classes, p)), abs=1e-5)
            expected = sorted(scores.items(), key=lambda pair: -pair[1])[: min(4, len(names))]
            assert_alternatives([found], [expected])
            assert sum(scores.values()) <= 1 + 1e-6
            assert all(score == c for name, score in found if name == label)
            assert found == sorted(found, key=lambda pair: -pair[1])
            if mass[label] >= max(mass.values()):
                assert found[0] == (label, c)
                first += 1
    assert first
    model.return_alternatives = 1000
    (answer,) = uanet_tf.tag(model, sentences[:1])
    assert {name for name, _ in answer.alternatives[0]} == set(names)


# ------------------------------------------------------------------------------ every form


def test_padding_and_batches_change_nothing(model, tagged):
    for tokens, answer in zip(SENTENCES[:4], tagged, strict=False):
        (found,) = uanet_tf.tag(model, [tokens])
        assert_same(found, answer, IN_GRAPHS)
        assert found.candidates
    sizes = {len(each.candidates) / len(each) ** 2 for each in tagged}
    assert min(sizes) < max(sizes)


def test_of_signatures_and_their_client(model, run_dir, tagged, tmp_path):
    # Not over the network: probabilities of all classes, and spans but as of entities.
    plain = uanet_tf.load_model(run_dir, return_probabilities=False, return_candidates=False)
    save_tokens(Signatures(plain), tmp_path / "1")
    loaded = verify_tokens(plain, tmp_path / "1", [])
    of_draft = {t.name for row in answers() if row.of_draft for t in row.tensors}
    assert set(loaded.signatures["draft"].structured_outputs) == of_draft
    assert set(loaded.signatures["with_threshold"].structured_outputs) == set(tensors(IN_GRAPHS))
    with in_thread([ModelSettings("mine", str(tmp_path))]) as url, Client(url, "mine") as client:
        *found, empty = client.tag([*SENTENCES, []])
    for one, other in zip(found, tagged, strict=True):
        assert_same(one, other, IN_GRAPHS)
    assert empty.alternatives == empty.accepted == []


def test_of_entities():
    """As of the entities that `tag` gives."""
    answer = {
        "tokens": tf.constant([["Ann", "Lee", "x"]]),
        "lengths": tf.constant([3]),
        "starts": tf.constant([[0, 4, 8]]),
        "ends": tf.constant([[3, 7, 9]]),
        POSITIONS: tf.constant([[1, 2, 0]]),
        "confidence": tf.constant([[0.9, 0.8, 0.1]]),
        "uncertainty": tf.constant([[0.2, 0.7, 0.9]]),
        "accepted": tf.constant([[True, False, True]]),
        "mutual_information": tf.constant([[0.1, 0.05, 0.8]]),
    }
    spans = np.zeros([1, 3, 4], np.float32)  # of one and two tokens, LOC and PER
    spans[0, 0, 3], spans[0, 1, 0] = 0.75, 0.25
    answer["candidates"] = tf.constant(spans)
    outputs = entity_signature(["O", "B-PER", "I-PER"], lambda text: answer, ["LOC", "PER"])(
        tf.constant(["Ann Lee x"])
    )
    scores = {"confidence": 0.8, "uncertainty": 0.7, "mutual_information": 0.1, "accepted": False}
    for name, score in scores.items():
        np.testing.assert_allclose(outputs[name], [[score]])
    found = {name[10:]: values[0] for name, values in as_text_of(outputs).items()}
    expected = {"text": ["Ann Lee", "Lee"], "type": ["PER", "LOC"], "start": [0, 4], "end": [7, 7]}
    expected |= {"token_start": [0, 1], "token_end": [2, 2], "probability": [0.75, 0.25]}
    assert found == {**expected, "count": 2}


def as_text_of(outputs):
    outputs = {name: values.numpy() for name, values in outputs.items()}
    return {
        name: values.tolist()
        for name, values in as_text(outputs).items()
        if name.startswith("candidate_")
    }


def test_of_tensorflow_lite_files(lite_path, tagged):
    lite = uanet_lite.Tagger(lite_path)
    for found in (lite.tag(SENTENCES), uanet_tf.tag(lite, SENTENCES)):
        for one, other in zip(found, tagged, strict=True):
            assert_same(one, other, IN_GRAPHS)
    assert {entity.accepted for each in tagged for entity in each.entities} == {True, False}
    # A sentence without words has the same fields.
    (empty,) = lite.tag([[]])
    assert empty.to_dict().keys() == tagged[0].to_dict().keys() - {"candidates", "probabilities"}
    names = {each.name for each in answers(IN_TEXT, optional=True)}
    assert set(lite.optional_answers) == names - {"candidates"}


def test_of_tensorflow_lite_files_behind_a_server(lite_path, model):
    served, expected = LiteModel(lite_path.parent), call(model)
    tokens = np.array([[each.encode() for each in row] for row in INPUTS["tokens"]], object)
    outputs = served.predict("", {**INPUTS, "tokens": tokens})
    about = served.metadata["serving_default"]["outputs"]
    assert set(outputs) == set(about) == set(tensors(IN_GRAPHS))
    for name, values in outputs.items():
        assert values.shape == expected[name].shape
        assert len(about[name]["tensor_shape"]["dim"]) == values.ndim
        if values.dtype == np.float32:
            np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-5)
        elif name != "alternative_labels":
            np.testing.assert_array_equal(values, expected[name])


def test_of_lines_of_json(run_dir, tagged, tmp_path):
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps({"tokens": each}) + "\n" for each in SENTENCES))
    flags = [f"--run_dir={run_dir}", f"--input={path}", f"--output={output}"]
    assert runner.exit_code(tag, ["tag", *flags, "--return_alternatives=2"]) == 0
    for line, answer in zip(output.read_text().splitlines(), tagged, strict=True):
        found, expected = json.loads(line), json.loads(json.dumps(answer.to_dict()))
        assert found.keys() == expected.keys()
        assert_alternatives(
            found.pop("alternatives"), [each[:2] for each in expected.pop("alternatives")]
        )
        for one, other in zip(
            found.pop("probabilities"), expected.pop("probabilities"), strict=True
        ):
            assert one == pytest.approx(other, abs=2e-6)
        spans = found.pop("candidates"), expected.pop("candidates")
        assert_candidates(*([Candidate(**each) for each in part] for part in spans))
        for name, values in found.items():
            if name != "entities" and isinstance(values[0], float):
                assert values == pytest.approx(expected[name], abs=2e-6)
            elif name != "entities":
                assert values == expected[name]
