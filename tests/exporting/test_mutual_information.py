"""With ``return_mutual_information`` every form of a tagger gives that beside the entropy."""

import json

import numpy as np
import pytest
import tensorflow as tf

import uanet_lite
import uanet_tf
from tests.exporting.decided_tagger import decided_tagger
from tests.models.contract_setup import make_sentences, pad
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import POSITIONS, Signatures, entity_signature
from uanet_tf.exporting.tflite.tflite_export import export_tflite
from uanet_tf.models.sampling import sampling_seed

SENTENCES = [list(sentence.tokens) for sentence in make_sentences("IOB2", 6)]
INPUTS = pad(SENTENCES, 2, "York")
MASK = np.arange(INPUTS["tokens"].shape[1]) < INPUTS["lengths"][:, None]
NAME = "mutual_information"


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    decided_tagger(return_mutual_information=True).save(folder / "model.keras")
    return folder


@pytest.fixture(scope="module")
def model(run_dir):
    return uanet_tf.load_model(run_dir)


@pytest.fixture(scope="module")
def expected(model):
    """The information of samples that are drafted one by one, in NumPy."""
    features = model.features({name: tf.constant(values) for name, values in INPUTS.items()})
    drafter = model.drafter
    states = drafter.sample_states(
        drafter.word_vectors(features), MASK, model.num_samples, sampling_seed(model.mc_seed)
    )
    samples = drafter.decoder.decide(states, MASK).samples.numpy()
    entropies = -(samples * np.log(samples)).sum(-1).mean(0)
    mean = samples.mean(0)
    values = np.where(MASK, -(mean * np.log(mean)).sum(-1) - entropies, 0.0)
    assert np.median(values[MASK]) > 1e-3
    return values


def test_of_the_model(model, expected):
    answers = model.predict(INPUTS, verbose=0)
    np.testing.assert_allclose(answers[NAME], expected, atol=1e-6)
    assert not answers[NAME][~MASK].any()
    assert (answers["uncertainty"] - answers[NAME])[MASK].min() > -1e-6
    model.return_mutual_information = False
    without = model.predict(INPUTS, verbose=0)
    assert model.optional_answers == ()
    model.return_mutual_information = True
    assert model.optional_answers == (NAME,)
    assert set(answers) - set(without) == {NAME}
    for name, values in without.items():
        np.testing.assert_array_equal(values, answers[name])


def test_of_signatures(model, expected, tmp_path):
    save_tokens(Signatures(model), tmp_path, only=["serving_default", "draft"])
    signatures = tf.saved_model.load(str(tmp_path)).signatures
    inputs = {name: tf.constant(values) for name, values in INPUTS.items()}
    for name in ("serving_default", "draft"):
        np.testing.assert_allclose(signatures[name](**inputs)[NAME], expected, atol=1e-5)


def test_of_entities():
    """As of the entities that `tag` gives: the highest of the tokens'."""
    answers = {
        "tokens": tf.constant([["Ann", "Lee", "x"]]),
        "lengths": tf.constant([3]),
        "starts": tf.constant([[0, 4, 8]]),
        "ends": tf.constant([[3, 7, 9]]),
        POSITIONS: tf.constant([[1, 2, 0]]),
        "confidence": tf.constant([[0.9, 0.8, 0.1]]),
        "uncertainty": tf.constant([[0.2, 0.7, 0.9]]),
        NAME: tf.constant([[0.1, 0.05, 0.8]]),
    }
    found = entity_signature(["O", "B-PER", "I-PER"], lambda text: answers)
    outputs = found(tf.constant(["Ann Lee x"]))
    np.testing.assert_allclose(outputs[NAME], [[0.1]])
    np.testing.assert_allclose(outputs["uncertainty"], [[0.7]])


def test_of_tensorflow_lite_files(run_dir, model, expected, tmp_path):
    (written,) = export_tflite(run_dir, tmp_path)
    ours = uanet_tf.tag(model, SENTENCES)
    theirs = uanet_tf.tag(uanet_lite.Tagger(written.path), SENTENCES)
    lite = uanet_lite.Tagger(written.path).tag(SENTENCES)
    entities = 0
    for row, answers in enumerate(zip(ours, theirs, lite, strict=True)):
        for answer in answers:
            values = expected[row, : len(SENTENCES[row])]
            np.testing.assert_allclose(answer.mutual_information, values, atol=1e-5)
            for entity in answer.entities:
                inside = answer.mutual_information[entity.token_start : entity.token_end]
                assert entity.mutual_information == max(inside)
                entities += 1
        one, *others = (json.loads(json.dumps(answer.to_dict())) for answer in answers)
        for other in others:
            assert other.keys() == one.keys()
            assert other[NAME] == pytest.approx(one[NAME], abs=1e-5)
            for first, second in zip(one["entities"], other["entities"], strict=True):
                assert first.keys() == second.keys()
                assert second[NAME] == pytest.approx(first[NAME], abs=1e-5)
    assert entities
