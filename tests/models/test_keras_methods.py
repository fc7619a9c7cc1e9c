"""What of Keras works on a tagger, and one sentence for what cannot."""

import zipfile

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import pad
from tests.models.tagger_setup import make_model
from uanet_tf.errors import InputError
from uanet_tf.models.loading import load_model


@pytest.fixture(scope="module")
def model():
    return make_model(encoder="none", representation="words")


@pytest.fixture
def inputs():
    return pad([["Ann", "met", "Bo"]])


def test_a_saved_model_of_keras(inputs, tmp_path):
    model = make_model(decoder="softmax", encoder="none", representation="words")
    expected = model.predict(inputs, verbose=0)
    model.save(tmp_path / "keras")
    tf.saved_model.save(model, str(tmp_path / "tensorflow"))
    loaded = tf.keras.models.load_model(tmp_path / "keras")
    outputs = loaded.predict(inputs, verbose=0)
    np.testing.assert_array_equal(outputs["uncertainty"], expected["uncertainty"])
    assert loaded.options == model.options


@pytest.mark.parametrize(
    ("method", "instead"),
    [
        ("fit", "train with uanet_tf.train"),
        ("train_on_batch", "train with uanet_tf.train"),
        ("evaluate", "uanet evaluate"),
        ("test_on_batch", "uanet evaluate"),
    ],
)
def test_what_keras_cannot_do_is_one_sentence(model, inputs, method, instead):
    model.compile()
    with pytest.raises(InputError, match=rf"^model\.{method} cannot ") as caught:
        getattr(model, method)(inputs, np.zeros([1, 3]))
    assert instead in str(caught.value)
    assert "\n" not in str(caught.value)


def test_compiling_by_xla_is_refused_at_once(model, inputs):
    with pytest.raises(InputError, match="jit_compile=True: a tagger looks up strings"):
        model.compile(jit_compile=True)
    assert model.predict(inputs, verbose=0)["labels"].shape == (1, 3)


@pytest.mark.parametrize("of", ["nothing", "array", "tensor"])
def test_predict_wants_tokens_and_lengths(model, inputs, of):
    given = {
        "nothing": (),
        "array": (inputs["tokens"],),
        "tensor": (tf.constant(inputs["tokens"]),),
    }
    with pytest.raises(InputError, match=r'dictionary of the arrays "tokens" and "lengths"'):
        model.predict(*given[of])


def test_predict_of_batches(model, inputs):
    expected = model.predict(inputs, verbose=0)
    dataset = tf.data.Dataset.from_tensor_slices(inputs).batch(1)
    for outputs in (
        model.predict(dataset, verbose=0),
        model.predict(x=inputs, verbose=0),
        model.predict_on_batch(inputs),
    ):
        np.testing.assert_array_equal(outputs["labels"], expected["labels"])


def test_fractions_of_lengths_are_refused(model, inputs):
    fractions = inputs | {"lengths": inputs["lengths"] - 0.1}
    dataset = tf.data.Dataset.from_tensor_slices(fractions).batch(1)
    for call in (
        lambda: model.predict(fractions, verbose=0),
        lambda: model.predict(dataset, verbose=0),
        lambda: model(fractions),
    ):
        with pytest.raises(InputError, match="lengths must be integers"):
            call()


def test_a_compiled_tagger_is_saved_as_any_other(inputs, tmp_path, caplog):
    model = make_model(decoder="softmax", encoder="none", representation="words")
    expected = model.predict(inputs, verbose=0)["uncertainty"]
    model.compile()
    model.save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_DEFLATED}
    assert [path.name for path in tmp_path.iterdir()] == ["model.keras"]
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(inputs, verbose=0)["uncertainty"], expected)
    assert "compile" not in caplog.text


def test_a_model_of_zeros_is_saved_so_that_it_is_read_again(tmp_path):
    model = make_model(decoder="softmax", encoder="none", representation="words", word_width=500)
    for weight in model.weights:
        weight.assign(tf.zeros_like(weight))
    model.save(tmp_path / "model.keras")
    loaded = load_model(tmp_path)
    assert all(not np.any(weight) for weight in loaded.weights)
