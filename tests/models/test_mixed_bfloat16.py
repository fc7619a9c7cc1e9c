"""Models that multiply in bfloat16 in training: they learn, and answer nearly as in float32."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.contract_setup import make_sentences, make_vocabulary, small, train
from tests.models.tagger_setup import OTHER_DECODERS
from tests.quick_params import quick_params
from tests.tiny_encoder import tiny_encoder
from uanet_tf.config import Config
from uanet_tf.exporting.saved_model import load_for_export
from uanet_tf.models.build import make_tagger
from uanet_tf.models.loading import load_model
from uanet_tf.registry import DECODERS, ENCODERS
from uanet_tf.tagging.streams import tag

SYSTEMS = {
    "uanet": {"refiner_states": True, "representation": "words"},
    "crf": {"representation": "char_attention", "encoder": "id_cnn", "decoder": "crf"},
    **OTHER_DECODERS,
    "transformer": {"representation": "transformer", "encoder": "none", "decoder": "softmax"},
}


def test_each_encoder_and_decoder_is_there():
    configs = [Config().replace(**{"pretrained": "any", **SYSTEMS[name]}) for name in SYSTEMS]
    assert {config.decoder.decoder for config in configs} == set(DECODERS)
    # The BiGRU is a part of bigru_transformer.
    assert {config.encoder.encoder for config in configs} | {"bigru"} == set(ENCODERS)


@pytest.mark.parametrize("name", quick_params(SYSTEMS, ["uanet"]))
def test_learns_and_answers_as_in_float32(name, tmp_path):
    settings = {"mixed_bfloat16": True, "pretrained": tiny_encoder(), **SYSTEMS[name]}
    config = small(Config().replace(**settings))
    sentences = make_sentences("IOB2")
    tagger = make_tagger(config, make_vocabulary(sentences, "IOB2"))
    assert tf.keras.mixed_precision.global_policy().name == "float32"
    assert {weight.dtype for weight in tagger.trainable_variables} == {tf.float32}
    train(tagger, sentences)
    tagger.save(tmp_path / "model.keras")
    tokens = [sentence.tokens for sentence in sentences]
    narrow, wide = (tag(model, tokens) for model in (tagger, load_model(tmp_path)))
    gold = [label for sentence in sentences for label in sentence.labels]
    assert np.mean([a == b for a, b in zip(gold, labels(narrow), strict=True)]) > 0.9
    assert np.mean([a == b for a, b in zip(labels(wide), labels(narrow), strict=True)]) > 0.95
    one, other = (np.concatenate([s.uncertainty for s in tagged]) for tagged in (narrow, wide))
    assert 0.0 < np.abs(one - other).mean() < 0.05


@pytest.fixture
def policy():
    """Sets a global policy of Keras, for one test."""
    yield tf.keras.mixed_precision.set_global_policy
    tf.keras.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("name", ["mixed_bfloat16", "float64"])
def test_a_global_policy_has_no_effect(name, policy, tmp_path):
    """What a run computes in is its own setting; it is float32 where an export needs that."""
    config = small(Config())
    vocabulary = make_vocabulary(make_sentences("IOB2"), "IOB2")
    make_tagger(config, vocabulary).save(tmp_path / "model.keras")
    policy(name)
    models = [
        load_model(tmp_path),
        load_for_export(tmp_path),
        make_tagger(config, vocabulary),
        tf.keras.models.load_model(tmp_path / "model.keras"),
    ]
    for model in models:
        layers = [layer.dtype_policy.name for layer in model.submodules if hasattr(layer, "call")]
        assert set(layers) == {"float32"}
    mixed = make_tagger(config.replace(mixed_bfloat16=True), vocabulary)
    assert mixed.drafter.encoder.dtype_policy.name == "mixed_bfloat16"
    assert {weight.dtype for weight in mixed.trainable_variables} == {tf.float32}
    assert tf.keras.mixed_precision.global_policy().name == name


def labels(tagged):
    return [label for sentence in tagged for label in sentence.labels]
