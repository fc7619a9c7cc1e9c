import json

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, pad
from tests.models.model_contract import text
from tests.models.tagger_setup import SENTENCES, make_batch, make_model
from uanet_lite.sentence import Sentence
from uanet_tf.errors import InputError
from uanet_tf.models.tagger import Tagger


@pytest.fixture(scope="module")
def shared():
    """A model that no test changes: its graphs are made once."""
    return make_model(encoder="none", representation="words")


def test_settings_and_vocabulary_may_be_plain_dictionaries(shared):
    config = json.loads(json.dumps(shared.get_config()))
    copy = Tagger.from_config(config)
    assert copy.get_config() == shared.get_config()
    assert (copy.settings, copy.vocabulary) == (shared.settings, shared.vocabulary)
    copy.set_weights(shared.get_weights())
    inputs = pad([list(SENTENCES[1].tokens)])
    expected, outputs = shared.tag_batch(**inputs), copy.tag_batch(**inputs)
    for name, values in expected.items():
        np.testing.assert_array_equal(outputs[name], values)


def has_memory_for(model, cells, monkeypatch):
    """Batches of more tokens fail, as they do on a GPU; the shapes that were tried."""
    tried, whole = [], model._tag_whole

    def tag(tokens, *others):
        tried.append(tokens.shape)
        if tokens.size > cells:
            raise tf.errors.InternalError(None, None, "CUDNN_STATUS_ALLOC_FAILED")
        return whole(tokens, *others)

    monkeypatch.setattr(model, "_tag_whole", tag)
    return tried


def test_another_error_is_raised_as_it_is(monkeypatch):
    model = make_model(representation="words", decoder="softmax")

    def fail(*inputs):
        raise tf.errors.InternalError(None, None, "a kernel is missing")

    monkeypatch.setattr(model, "_tag_whole", fail)
    with pytest.raises(tf.errors.InternalError, match="a kernel is missing"):
        model.tag_batch(**pad([["Ann"], ["Bob"]]))


PARTS = [(2, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("documents", "cells", "tried"),
    [(None, 4, [(5, 2), *PARTS, *PARTS]), ([0, 0, 0, 1, 1], 6, [(5, 2), *[(3, 2), (2, 2)] * 2])],
)
def test_a_batch_without_memory_is_tagged_in_parts(monkeypatch, documents, cells, tried):
    reads = "sentence" if documents is None else "document"
    model = make_model(representation="words", refiner_layers=1, refiner_context=reads)
    inputs = pad([["Ann", "met"], ["Bob"], ["Ann", "Bob"], ["met"], ["Ann"]])
    if documents:
        inputs["documents"] = np.array(documents)
    expected = model.tag_batch(**inputs)
    shapes = has_memory_for(model, cells, monkeypatch)
    for _ in range(2):
        found = model.tag_batch(**inputs)
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-5, atol=1e-6)
    assert shapes == tried


def test_what_is_read_together_and_has_no_memory(monkeypatch):
    model = make_model(representation="words", decoder="softmax")
    has_memory_for(model, 1, monkeypatch)
    with pytest.raises(InputError, match=r"no memory to tag 1 x 2 tokens, which are read together"):
        model.tag_batch(**pad([["Ann", "met"], ["Bob", "met"]]))


def test_probabilities_of_a_batch_on_request():
    model = make_model(representation="words", refiner_layers=1)
    inputs = pad([list(SENTENCES[1].tokens)])
    assert "probabilities" not in model.tag_batch(**inputs)
    model.return_probabilities = True
    tagged = model.tag_batch(**inputs)
    np.testing.assert_allclose(tagged["probabilities"].max(-1), tagged["confidence"], atol=1e-6)
    assert tagged["probabilities"].shape[-1] == len(model.class_names)


def test_settings_that_do_not_fit_together_are_an_input_error():
    """What only shows when the parts are put together."""
    with pytest.raises(InputError, match="do not fit together: `states` must have an even width"):
        make_model(
            decoder="lan", lan_heads=2, encoder="none", representation="words", word_width=13
        )


def test_what_a_model_says_of_itself():
    model = make_model(threshold=0.125, max_tokens=99)
    assert model.threshold == 0.125
    assert model.max_tokens == 99
    assert [make_model(num_samples=samples).num_passes for samples in (0, 1, 5)] == [1, 1, 5]
    # Nothing to sample: no mask differs.
    assert make_model(decoder="crf", encoder="bilstm", num_samples=5).num_passes == 1
    assert (model.label_scheme, model.vocabulary.internal_scheme) == ("IOB2", "BIOES")
    assert model.class_names[:2] == ["O", "B-LOC"]
    assert set(model.label_names) == {"O", "B-PER", "I-PER", "B-LOC", "I-LOC"}
    sentences = make_sentences(None, 5)
    model = make_model(sentences, None)
    assert (model.label_scheme, model.vocabulary.internal_scheme) == (None, None)
    assert model.class_names == model.label_names


def test_chunks_without_types():
    sentences = [Sentence(("a", "b", "c"), ("B", "I", "O"), 1, True)]
    model = make_model(sentences, "IOB2")
    _, labels = make_batch(model, sentences)
    assert [model.class_names[k] for k in labels.numpy()[0]] == ["B", "E", "O"]
    assert set(model.label_names) == {"O", "B", "I"}
    model.drafter.decoder.bias.assign([9.0 if name == "I" else 0.0 for name in model.class_names])
    outputs = model.predict(pad([["a", "b", "c"]]), verbose=0)
    assert text(outputs["draft_labels"]).tolist() == [["B", "I", "I"]]


def test_a_sentence_of_too_many_tokens_is_refused_unread(shared):
    inputs = {"tokens": tf.fill([1, 4_097], "a"), "lengths": tf.constant([4_097])}
    with pytest.raises(tf.errors.InvalidArgumentError, match="More than 4096 tokens in a sentence"):
        shared(inputs)
    with pytest.raises(tf.errors.InvalidArgumentError, match="More than 4096 tokens in a sentence"):
        shared.predict(inputs, verbose=0)
    assert shared.tag_batch(np.array([["a"]], object), np.array([1], np.int32))["labels"].size == 1


def test_a_length_beyond_the_tokens_is_an_error(shared):
    inputs = {"tokens": np.array([["a", "b"]], object), "lengths": np.array([3], np.int32)}
    for call in (
        lambda: shared.tag_batch(**inputs),
        lambda: shared.predict(inputs, verbose=0),
        lambda: shared(inputs),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="beyond the width of tokens"):
            call()


@pytest.mark.parametrize("decoder", ["uanet", "softmax"])
def test_nothing_to_tag(decoder, shared):
    model = shared if decoder == "uanet" else make_model(decoder=decoder)
    for shape in ((0, 4), (0, 1), (3, 2)):
        outputs = model.tag_batch(np.full(shape, "", object), np.zeros(shape[:1], np.int32))
        assert {values.shape for values in outputs.values()} == {shape}


def test_a_sentence_without_tokens_beside_others(shared):
    tokens = np.array([["Ann", "saw"], ["x", "x"]], object)
    outputs = shared.tag_batch(tokens, np.array([2, 0], np.int32))
    assert np.isfinite(outputs["uncertainty"]).all()
    alone = shared.tag_batch(tokens[:1], np.array([2], np.int32))
    np.testing.assert_allclose(outputs["uncertainty"][0], alone["uncertainty"][0], atol=1e-6)


def test_bad_sampling():
    model = make_model(decoder="softmax")
    with pytest.raises(ValueError, match=r"`num_samples` must be at least 0. Received: -1"):
        model.num_samples = -1
    with pytest.raises(ValueError, match=r"`mc_seed` must be at most 2147483647. Rec"):
        model.mc_seed = 2**31
    assert (model.num_samples, model.mc_seed) == (3, 1)
