"""The signature of whole documents, and options that change between signatures and graphs."""

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.exporting.test_saved_model import ask
from tests.exporting.tflite import agreement
from tests.models.tagger_setup import make_model
from uanet_tf.exporting import verification
from uanet_tf.exporting.sample_inputs import pad_documents
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import Signatures

LIGHT = {
    "representation": "words",
    "encoder": "none",
    "refiner_context": "document",
    "refine_all": True,
}
DOCUMENTS = [
    [["Oslo", "is", "in", "Norway"], ["in", "Oslo"], ["Oslos", "Norway", "x"]],
    [],
    [["Oslo"]],
    [["Norway", "in"], [], ["norwayx"]],
]


@pytest.fixture(scope="module")
def model():
    return make_model(**LIGHT, return_probabilities=True)


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "1"
    assert "document" in save_tokens(Signatures(model), path)
    return path


@pytest.fixture(scope="module")
def loaded(path):
    return tf.saved_model.load(str(path))


def expected(model, document):
    """Answers of all tokens of a document, one sentence after another."""
    inputs = uanet_tf.pad(document)
    numbers = np.full(len(document), 3, np.int32)
    answers = model.call({**inputs, "document": tf.constant(numbers)})
    kept = np.arange(inputs["tokens"].shape[1]) < inputs["lengths"][:, None]
    return verification.as_text({name: values.numpy()[kept] for name, values in answers.items()})


def assert_answers(found, model, documents):
    for row, document in enumerate(documents):
        count = sum(map(len, document))
        for values in found.values():
            nothing = "" if values.dtype == object else 0
            assert (values[row, count:] == nothing).all()
        for name, values in expected(model, document).items() if count else ():
            if values.dtype == object:
                assert found[name][row, :count].tolist() == values.tolist()
            else:
                np.testing.assert_allclose(found[name][row, :count], values, atol=1e-5)


def test_it_answers_as_the_model_does(model, loaded):
    found = ask(loaded, "document", **pad_documents(DOCUMENTS))
    assert found["labels"].shape == (4, 9)
    assert found["probabilities"].shape == (4, 9, len(model.class_names))
    assert_answers(found, model, DOCUMENTS)
    alone = model.call(uanet_tf.pad(DOCUMENTS[0]))["probabilities"].numpy()
    assert np.abs(alone[0] - found["probabilities"][0, :4]).max() > 1e-4


def test_rows_fillings_and_widths_change_nothing(model, loaded):
    inputs = pad_documents([*DOCUMENTS[::-1], *DOCUMENTS])
    inputs["tokens"] = np.pad(inputs["tokens"], [(0, 0), (0, 5)], constant_values="Oslo")
    inputs["sentence_lengths"] = np.pad(
        inputs["sentence_lengths"], [(0, 0), (0, 2)], constant_values=4
    )
    assert_answers(ask(loaded, "document", **inputs), model, [*DOCUMENTS[::-1], *DOCUMENTS])


@pytest.mark.parametrize("documents", [[[]], [[[]]], [[], []]])
def test_without_tokens_there_are_empty_answers(loaded, documents):
    found = ask(loaded, "document", **pad_documents(documents))
    assert (found["labels"] == "").all()
    assert len(found["labels"]) == len(documents)


def test_an_export_is_verified(model, path, loaded):
    verification.verify_tokens(model, path, [("document", pad_documents(DOCUMENTS))])
    other = make_model(**LIGHT)
    other.set_weights([2 * weight for weight in model.get_weights()])
    with pytest.raises(verification.ExportMismatchError):
        verification._verify_documents(other, loaded, DOCUMENTS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentences": [1]}, "sentences must have one row for each document"),
        ({"sentence_lengths": [[1]]}, "sentence_lengths must have one row for each document"),
        ({"sentences": [-1, 1]}, "sentences must not be negative"),
        ({"sentences": [3, 1]}, "sentences is beyond the width of sentence_lengths"),
        ({"sentence_lengths": [[2, -1], [1, 1]]}, "A sentence length is negative"),
        ({"sentence_lengths": [[2, 9], [1, 1]]}, "longer than its tokens"),
        # 2 ** 30 four times, and 1: in 32 bits 1.
        ({"sentence_lengths": [[2**30] * 4 + [1]] * 2, "sentences": [5, 5]}, "longer than its"),
    ],
)
def test_wrong_inputs_are_refused(loaded, change, message):
    good = {
        "tokens": [["a", "b", "c"], ["d", "e", "f"]],
        "sentence_lengths": [[2, 1], [1, 1]],
        "sentences": [2, 1],
    }
    ask(loaded, "document", **good)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        ask(loaded, "document", **{**good, **change})


def test_padding_is_limited(loaded):
    """A long sentence beside many short ones: 2,048 tokens, but 1,048,576 when padded."""
    wide = pad_documents([[["a"] * 1024, *[["b"]] * 1023]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="padded to the longest"):
        ask(loaded, "document", **wide)
    passage = pad_documents([[["a"] * 200, *[["b"]] * 312]])  # of as many as --max_tokens
    assert (ask(loaded, "document", **passage)["labels"] != "").all()


def test_other_models_have_no_such_signature():
    assert "document" not in Signatures(make_model(encoder="none")).of_tokens()


def test_labels_follow_the_options_of_their_graph():
    model = agreement.make_model(representation="words", encoder="none", num_samples=2)
    tokens = agreement.random_words(model, 60)
    words, lengths = np.array([tokens], object), np.array([len(tokens)])
    before = model.tag_batch(words, lengths)["labels"]
    signatures = Signatures(model)
    model.set_options(valid_labels=False)
    expected = model.tag_batch(words, lengths)["labels"]
    assert (before != expected).any()
    run = signatures.of_tokens()["serving_default"]
    found = run(tf.constant(words.astype(str)), tf.constant(lengths, tf.int32))["labels"][0]
    names = np.array(model.label_names)[expected[0]]
    np.testing.assert_array_equal(found.numpy().astype(str), names)
