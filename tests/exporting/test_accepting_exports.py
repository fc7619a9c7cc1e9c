"""A calibrated tagger with a target precision says the same in every form."""

import json

import numpy as np
import pytest
import tensorflow as tf

import uanet_lite
import uanet_tf
from tests.exporting.decided_tagger import decided_tagger
from tests.models.contract_setup import make_sentences, pad
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import Signatures
from uanet_tf.exporting.tflite.tflite_export import export_tflite

MAP = [[0.5, -0.5, 0.5], [1.5, 0.25, 0.0], [0.75, 0.5, 1.0], [1.0, -1.0, -0.5]]
INPUTS = pad([list(sentence.tokens) for sentence in make_sentences("IOB2", 12)], 3, "York")
MASK = np.arange(INPUTS["tokens"].shape[1]) < INPUTS["lengths"][:, None]


def call(model):
    """Without a graph, which would take most of the time."""
    return {name: values.numpy() for name, values in model(INPUTS).items()}


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """Untrained: half of the tokens are refined, and many labels are accepted."""
    folder = tmp_path_factory.mktemp("run")
    model = decided_tagger(encoder="none")
    model.threshold = float(np.median(call(model)["uncertainty"][MASK]))
    model.calibration.set_map(MAP)
    sure = np.sort(call(model)["confidence"][MASK])
    sure = sure[len(sure) // 4 : -len(sure) // 4]
    gap = np.argmax(np.diff(sure))  # rounding may not decide
    thresholds = np.full(len(model.class_names), sure[gap : gap + 2].mean())
    thresholds[model.class_names.index("O")] = 2.0
    model.acceptance.set_target(0.875, thresholds)
    model.save(folder / "model.keras")
    return folder


@pytest.fixture(scope="module")
def model(run_dir):
    return uanet_tf.load_model(run_dir)


@pytest.fixture(scope="module")
def expected(model):
    return call(model)


def test_of_the_loaded_model(model, expected):
    assert model.acceptance.target_precision == 0.875
    accepted = expected["accepted"]
    assert accepted.dtype == bool
    assert not accepted[~MASK].any()
    assert 0.05 < accepted[MASK].mean() < 0.95
    assert not accepted[expected["labels"] == b"O"].any()


def test_without_calibration_nothing_is_marked(model, expected):
    model.calibrated = False
    plain = call(model)
    assert model.optional_answers == ()
    model.calibrated = True
    assert model.optional_answers == ("accepted",)
    assert set(expected) - set(plain) == {"accepted"}
    assert np.abs(plain.pop("confidence") - expected["confidence"])[MASK].min() > 1e-6
    for name, values in plain.items():
        np.testing.assert_array_equal(values, expected[name])


def test_of_signatures(model, expected, tmp_path):
    save_tokens(Signatures(model), tmp_path, only=["serving_default", "with_threshold", "draft"])
    signatures = tf.saved_model.load(str(tmp_path)).signatures
    inputs = {name: tf.constant(values) for name, values in INPUTS.items()}
    gamma = tf.fill([len(MASK)], model.threshold)
    for name, further in (("serving_default", {}), ("with_threshold", {"threshold": gamma})):
        answers = signatures[name](**inputs, **further)
        np.testing.assert_array_equal(answers["accepted"], expected["accepted"])
        np.testing.assert_allclose(answers["confidence"], expected["confidence"], atol=1e-5)
    assert set(signatures["draft"].structured_outputs) == {"labels", "uncertainty"}


def test_of_tensorflow_lite_files(run_dir, expected, tmp_path):
    (written,) = export_tflite(run_dir, tmp_path)
    tokens = [row[mask].tolist() for row, mask in zip(INPUTS["tokens"], MASK, strict=True)]
    ours = uanet_tf.tag(uanet_lite.Tagger(written.path), tokens)
    lite = uanet_lite.Tagger(written.path).tag(tokens)
    marks = set()
    for row, (one, other) in enumerate(zip(ours, lite, strict=True)):
        length = len(tokens[row])
        assert one.accepted == other.accepted == expected["accepted"][row, :length].tolist()
        for answer in (one, other):
            found = expected["confidence"][row, :length]
            np.testing.assert_allclose(answer.confidence, found, atol=1e-5)
        assert [e.accepted for e in one.entities] == [
            all(one.accepted[e.token_start : e.token_end]) for e in one.entities
        ]
        first, second = (json.loads(json.dumps(a.to_dict())) for a in (one, other))
        assert first["accepted"] == second["accepted"] == one.accepted
        assert [e["accepted"] for e in first["entities"]] == [e.accepted for e in other.entities]
        marks |= {entity.accepted for entity in one.entities}
    assert marks == {True, False}
    # A sentence without words has the same fields.
    (empty,) = uanet_lite.Tagger(written.path).tag([[]])
    assert empty.to_dict()["accepted"] == []
    assert uanet_lite.Tagger(written.path).optional_answers == ("accepted",)
