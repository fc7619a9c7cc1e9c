import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, pad, small
from tests.models.model_contract import assert_same, text
from tests.models.tagger_setup import gradients, size
from tests.tiny_encoder import count_runs, encoders_of_all_types, write_tiny_encoder
from uanet_tf.config import Config
from uanet_tf.exporting.saved_model import save_tokens
from uanet_tf.exporting.signatures import DEFAULT, Signatures
from uanet_tf.models.build import make_tagger
from uanet_tf.representation.transformer.encoder_types import TYPES
from uanet_tf.tagging.streams import tag

SENTENCES = make_sentences("IOB2", 5)
TRANSFORMER = {
    "representation": "transformer",
    "pretrained": "a_folder",
    "refiner_embeddings": "shared",
    "encoder": "none",
    "output_dropout": 0.3,
}


def make_model(**settings):
    tf.keras.utils.set_random_seed(6)
    config = small(Config().replace(**TRANSFORMER)).replace(output_dropout=0.3).replace(**settings)
    return make_tagger(config, make_vocabulary(SENTENCES, "IOB2"))


def predict(model, sentences):
    outputs = model.predict(pad(sentences), verbose=0)
    return {name: text(values) for name, values in outputs.items()}


TOKENS = [list(sentence.tokens) for sentence in SENTENCES]


def test_the_encoder_has_an_optimizer_of_its_own():
    groups = make_model().variable_groups()
    assert set(groups) == {"draft", "pretrained", "refined"}
    assert all("transformer/" in variable.name for variable in groups["pretrained"])
    assert not any("transformer/" in v.name for name in ("draft", "refined") for v in groups[name])
    assert len(groups["pretrained"]) == 28
    assert set(make_model(pretrained_learning_rate=0.0).variable_groups()) == {"draft", "refined"}
    assert set(make_model(decoder="softmax").variable_groups()) == {"draft", "pretrained"}


def test_the_draft_trains_the_encoder_and_the_refiner_does_not():
    model = make_model()
    of_draft = gradients(model, "draft")
    assert all(size(g) > 0 for g in of_draft["pretrained"].values())
    assert all(size(g) > 0 for g in of_draft["draft"].values())
    of_refined = gradients(model, "refined")
    assert not any(size(g) for name in ("pretrained", "draft") for g in of_refined[name].values())
    assert any(size(g) > 0 for g in of_refined["refined"].values())


def test_samples_come_from_above_the_encoder():
    model = make_model()
    several = predict(model, TOKENS)["uncertainty"]
    model.num_samples = 0
    assert np.abs(several - predict(model, TOKENS)["uncertainty"]).max() > 1e-3


@pytest.mark.process
def test_refining_some_sentences_alone():
    """Their vectors go with them, and the encoder does not run again."""
    model = make_model(refine_all=True)
    u = predict(model, TOKENS)["uncertainty"]
    model.threshold = float(np.sort(u.max(axis=1))[2])
    expected = predict(model, TOKENS)
    assert 0 < expected["refined"].any(axis=1).sum() < len(TOKENS)
    model.refine_all = False
    runs = count_runs(model.drafter.representation.transformer)
    found = predict(model, TOKENS)
    assert len(runs) == 1
    for outputs in (found, expected):
        del outputs["refined_labels"]
    assert_same(found, expected)


def test_features_in_place_of_tokens():
    model = make_model()
    read = model.features({k: tf.constant(v) for k, v in pad(TOKENS).items()})
    assert set(read) == {"form_subword_ids", "form_index", "lengths", "token_vectors"}
    form_features = {name: value for name, value in read.items() if name != "token_vectors"}
    again = model.features(form_features)
    np.testing.assert_array_equal(again["token_vectors"], read["token_vectors"])
    assert model.features(read)["token_vectors"] is read["token_vectors"]


@pytest.mark.process
def test_a_saved_model_needs_no_preset(tmp_path):
    folder = write_tiny_encoder(tmp_path / "bert", seed=5, hidden_act="gelu_new")
    model = make_model(pretrained=str(folder))
    expected = predict(model, TOKENS)
    model.save(tmp_path / "model.keras")
    shutil.rmtree(folder)
    loaded = tf.keras.models.load_model(tmp_path / "model.keras", compile=False)
    assert loaded.drafter.representation.transformer.architecture.activation == "gelu_tanh"
    assert_same(predict(loaded, TOKENS), expected, tolerance=0)


@pytest.mark.process
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_saved_exported_and_reads_long_sentences(tmp_path, kind):
    """48 positions; a sentence of 100 words alone, and beside a short one."""
    pooling = {"subword_pooling": "mean" if kind in ("albert", "roberta") else "first"}
    config = small(Config().replace(**TRANSFORMER, **pooling))
    folder = str(encoders_of_all_types() / kind)
    model = make_tagger(config.replace(pretrained=folder), make_vocabulary(SENTENCES, "IOB2"))
    sentences = [["Ada", "Lovelace", "met", "Ωμέγα"] * 25, ["Oslo", "東京", "😀"]]
    expected = predict(model, sentences)
    alone = {name: values[:1] for name, values in expected.items()}
    assert_same(predict(model, sentences[:1]), alone)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras", compile=False)
    assert_same(predict(loaded, sentences), expected, tolerance=0)
    save_tokens(Signatures(loaded), tmp_path / "export", only=[DEFAULT])
    inputs = {name: tf.constant(values) for name, values in pad(sentences).items()}
    answers = tf.saved_model.load(str(tmp_path / "export")).signatures[DEFAULT](**inputs)
    assert_same({name: text(values.numpy()) for name, values in answers.items()}, expected)


def test_words_that_the_tokenizer_empties_have_labels():
    model = make_model()
    (tagged,) = tag(model, [["Ann", "\x01", "\u200d\u200e", "met", "\u0301"]])
    assert len(tagged.labels) == 5
    assert set(tagged.labels) <= set(model.label_names)


def test_case_and_digits_are_the_tokenizers_matter():
    """The tiny BERT has no capitals, and its own digits."""
    model = make_model(normalize_digits=True)
    first = predict(model, [["Oslo", "met", "2"]])
    assert_same(predict(model, [["OSLO", "MET", "2"]]), first)
    assert (predict(model, [["Oslo", "met", "3"]])["uncertainty"] != first["uncertainty"]).any()
