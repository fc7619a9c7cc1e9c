"""A run on pretrained vectors: kept, exported and resumed with the words that only they know."""

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.training.killing import Moment, fit_with_copies
from tests.training.tiny_run import WORDS, assert_same_weights, tiny_config, weights
from uanet_lite.lite_tagger import Tagger as LiteTagger
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import Signatures
from uanet_tf.exporting.tflite.tflite_export import export_tflite
from uanet_tf.training import fit, saved_state
from uanet_tf.training.prepare import read_splits

WIDTH = 8
UNSEEN = ["Ulaanbaatar", "yesterday's", "zither"]
SENTENCE = [*UNSEEN, "unheard-of"]


@pytest.fixture(scope="module")
def config(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    plain = tiny_config(corpus)
    seen = {token for s in read_splits(plain.data)["train"] for token in s.tokens}
    words = sorted(seen)[::2] + UNSEEN
    numbers = np.random.default_rng(1).normal(size=[len(words), WIDTH])
    lines = (
        f"{w} {' '.join(f'{n:.4f}' for n in row)}\n" for w, row in zip(words, numbers, strict=True)
    )
    path.write_text("".join(lines))
    light = WORDS | {"calibrated": False, "epochs": 2, "min_epochs": 1, "num_samples": 0}
    return plain.replace(word_vectors=str(path), word_width=WIDTH, **light)


@pytest.fixture(scope="module")
def folder(config, tmp_path_factory):
    """Folder of a run, and of what a kill in its second epoch would have left of it."""
    folder = tmp_path_factory.mktemp("runs")
    killed = {folder / "killed": Moment(saved_state.Progress, "advance", 14)}
    fit_with_copies(config, folder / "whole", killed)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return uanet_tf.load_model(folder / "whole")


@pytest.mark.process
def test_resumes_exactly(config, folder):
    fit.fit(config, folder / "killed")
    assert_same_weights(folder / "whole", folder / "killed")


def test_one_table_is_stored_in_8_bits(folder, model):
    arrays = weights(folder / "whole")
    tables = [array for array in arrays.values() if array.dtype == np.int8]
    assert [table.shape for table in tables] == [(len(model.vocabulary.words) + 2, WIDTH)]
    assert model.vocabulary.words[-3:] == tuple(UNSEEN)
    table, own = model.drafter.representation, model.refiner.representation
    assert table.pretrained is own.pretrained
    assert not np.array_equal(table.embeddings, own.embeddings)


def test_a_word_is_known_by_its_vector_alone(model):
    features = model.features(uanet_tf.pad([SENTENCE]))
    vectors, ids = model.drafter.representation.word_vectors(features)
    index = features["form_index"][0]
    last = len(model.vocabulary.words) + 2
    np.testing.assert_array_equal(tf.gather(ids, index), [last - 3, last - 2, last - 1, 1])
    expected = model.drafter.representation.pretrained(tf.range(last - 3, last))[0]
    np.testing.assert_array_equal(tf.gather(vectors, index)[:3], expected)


def test_the_exported_model_answers_alike(model, tmp_path):
    save_tokens(Signatures(model), tmp_path, only=["serving_default"])
    assert (tmp_path / "assets" / "words.txt").read_text().splitlines()[-3:] == UNSEEN
    serve = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    inputs = uanet_tf.pad([SENTENCE])
    found = serve(tokens=tf.constant(inputs["tokens"]), lengths=tf.constant(inputs["lengths"]))
    expected = model.predict(inputs, verbose=0)
    np.testing.assert_array_equal(found["labels"], expected["labels"])
    np.testing.assert_allclose(found["uncertainty"], expected["uncertainty"], atol=1e-5)


@pytest.mark.process
def test_tensorflow_lite_answers_alike(folder, model, tmp_path):
    export_tflite(folder / "whole", tmp_path, quantize=True)
    (expected,) = uanet_tf.tag(model, [SENTENCE])
    for name, error in (("uanet", 1e-4), ("uanet_float16", 0.01), ("uanet_dynamic", 0.2)):
        (found,) = LiteTagger(tmp_path / f"{name}.tflite").tag([SENTENCE])
        np.testing.assert_allclose(found.uncertainty, expected.uncertainty, atol=error)
