"""A TensorFlow Lite file behind the local server answers as the SavedModels of the same run."""

import numpy as np
import pytest

from uanet_lite import interpreter
from uanet_lite.lite_tagger import Tagger
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.serving.rest_api.lite_model import LiteModel


@pytest.fixture(scope="module")
def lite(served_folder):
    return LiteModel(served_folder / "lite" / "7", threads=2)


def as_bytes(inputs, more=0):
    rows = [
        [word.encode() for word in [*row, *row[:1] * more]] for row in inputs["tokens"].tolist()
    ]
    return {**inputs, "tokens": np.array(rows, object)}


def assert_same(actual, expected):
    """The outputs of two signatures, padding included."""
    assert list(actual) == list(expected)
    for name, values in expected.items():
        assert (actual[name].dtype, actual[name].shape) == (values.dtype, values.shape), name
        if values.dtype == np.float32:
            np.testing.assert_allclose(actual[name], values, rtol=0, atol=1e-5)
        else:
            assert actual[name].tolist() == values.tolist(), name


def test_answers_as_the_saved_model(lite, served, words):
    reference, refined = served["tiny"], 0
    for start in range(0, len(words), 16):
        # Wider than the longest; the padding is the first word.
        inputs = as_bytes(pad([*words[start : start + 16], []]), more=2)
        expected = reference.predict("", inputs)
        assert_same(lite.predict("serving_default", inputs), expected)
        refined += expected["refined"].sum()
    assert refined > 50
    assert lite.gamma == reference.gamma
    for side in ("inputs", "outputs"):
        told, known = (each.metadata["serving_default"][side] for each in (lite, reference))
        assert {name: (about["dtype"], about["tensor_shape"]) for name, about in told.items()} == {
            name: (about["dtype"], about["tensor_shape"]) for name, about in known.items()
        }
    assert lite.input_types("") == reference.input_types("")
    assert lite.method("") == reference.method("")


def test_texts_as_the_saved_model(served, served_folder, words, texts):
    model = LiteModel(served_folder / "lite" / "7", text=True)
    reference = served["tiny_text"]
    for given in (texts, [" ".join(tokens) for tokens in words], [""], []):
        inputs = {"text": np.array([text.encode() for text in given], object)}
        assert_same(model.predict("", inputs), reference.predict("", inputs))
        assert_same(model.predict("entities", inputs), reference.predict("entities", inputs))
    assert model.input_types("") == reference.input_types("") == {"text": "string"}
    told, known = (each.metadata["entities"]["outputs"] for each in (model, reference))
    assert {name: about["dtype"] for name, about in told.items()} == {
        name: about["dtype"] for name, about in known.items()
    }


def test_no_sentences(lite):
    nothing = lite.predict("", {"tokens": np.empty((0, 3), object), "lengths": np.int32([])})
    assert {values.shape for values in nothing.values()} == {(0, 3)}


def test_an_answer_that_the_reader_does_not_know_is_ignored(served_folder, monkeypatch, words):
    """So that what is deployed reads the files of a later version."""
    class_, *rest = interpreter._runtime()

    class Later(class_):
        def get_signature_runner(self, name):
            return WithOneMore(super().get_signature_runner(name))

    class WithOneMore:
        def __init__(self, runner):
            self.runner = runner
            self.get_input_details = runner.get_input_details

        def get_output_details(self):
            return self.runner.get_output_details() | {"answer_to_come": {}}

        def __call__(self, **ids):
            return self.runner(**ids) | {"answer_to_come": np.zeros(3)}

    (path,) = (served_folder / "lite" / "7").glob("*.tflite")
    expected = [tagged.to_dict() for tagged in Tagger(path).tag(words[:3])]
    monkeypatch.setattr(interpreter, "_runtime", lambda: (Later, *rest))
    assert [tagged.to_dict() for tagged in Tagger(path).tag(words[:3])] == expected
