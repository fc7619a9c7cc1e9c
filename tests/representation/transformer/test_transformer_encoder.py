import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.representation.transformer.bert_transcription import reference_bert
from tests.tiny_encoder import random_weights, tiny_config, write_tiny_encoder
from uanet_tf.data.encoder_spec import Architecture
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.transformer.pretrained_encoder import read_hugging_face
from uanet_tf.representation.transformer.transformer_encoder import (
    TransformerEncoder,
    TransformerLayer,
)

SIZES = {
    "vocabulary_size": 20,
    "width": 8,
    "num_layers": 2,
    "num_heads": 2,
    "feedforward_width": 12,
    "max_positions": 9,
}
OF_KERAS = ("name", "dtype", "trainable")


def architecture(**changes):
    return Architecture(**{**SIZES, **changes})


def make_encoder(**options):
    of_keras = {key: options.pop(key) for key in OF_KERAS if key in options}
    return TransformerEncoder(architecture(**options), **of_keras)


def encoder_of(folder: pathlib.Path) -> TransformerEncoder:
    preset = read_hugging_face(folder)
    encoder = TransformerEncoder(preset.spec.architecture)
    encoder.fill(preset.weights)
    return encoder


def make_rows(lengths, vocabulary_size, seed=1):
    rng = np.random.default_rng(seed)
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    return rng.integers(0, vocabulary_size, mask.shape).astype(np.int32), mask


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_hugging_face_weights_give_hugging_face_states(tmp_path, activation):
    """Within 1e-4, as promised, and nearer: against the forward pass in NumPy."""
    config = tiny_config(hidden_act=activation, num_attention_heads=4, num_hidden_layers=3)
    folder = write_tiny_encoder(
        tmp_path, scale=1.5, hidden_act=activation, num_attention_heads=4, num_hidden_layers=3
    )
    weights = random_weights(config, scale=1.5)
    ids, mask = make_rows([13, 4, 1], config["vocab_size"])
    states = encoder_of(folder)(tf.constant(ids), tf.constant(mask)).numpy()
    sequences = [row[real].tolist() for row, real in zip(ids, mask, strict=True)]
    rows = [reference_bert(weights, config, sequence) for sequence in sequences]
    np.testing.assert_allclose(states, np.concatenate(rows), atol=2e-5)


@pytest.mark.parametrize("places", [[[0, 0]], [[1, 2], [0, 3], [0, 1]], []])
def test_only_what_is_asked_for(places):
    encoder = make_encoder()
    ids, mask = make_rows([5, 3], 20)
    states = np.zeros([*mask.shape, 8], np.float32)
    states[mask] = encoder(tf.constant(ids), tf.constant(mask))
    asked = encoder(
        tf.constant(ids),
        tf.constant(mask),
        places=tf.reshape(tf.constant(places, tf.int64), [-1, 2]),
    )
    expected = np.array([states[row, column] for row, column in places]).reshape(-1, 8)
    np.testing.assert_allclose(asked, expected, atol=1e-6)


def test_dropout_is_drawn_in_each_place_of_its_own():
    """With one kind of dropout at a time, outputs vary with the seed, and with nothing else."""
    ids, mask = make_rows([5, 3], 20)
    for rates in ((0.4, 0.0), (0.0, 0.4)):
        encoder = make_encoder(hidden_dropout=rates[0], attention_dropout=rates[1])
        plain = encoder(tf.constant(ids), tf.constant(mask)).numpy()
        dropped = [
            encoder(tf.constant(ids), tf.constant(mask), dropout_seed=make_seed(seed)).numpy()
            for seed in (1, 1, 2)
        ]
        np.testing.assert_array_equal(dropped[0], dropped[1])
        assert np.abs(dropped[0] - dropped[2]).max() > 1e-4
        assert np.abs(dropped[0] - plain).max() > 1e-4


def padded(layer, inputs, seed):
    """States in their rows, [R, S, D], as other layers give them."""
    mask = inputs["mask"]
    states = layer(inputs["ids"], mask, dropout_seed=seed)
    shape = tf.concat([tf.shape(mask, tf.int64), [8]], axis=0)
    return tf.scatter_nd(tf.where(mask), states, shape)


def test_contract():
    ids, mask = make_rows([5, 3, 1], 20)
    check_layer(
        lambda **kwargs: make_encoder(hidden_dropout=0.3, attention_dropout=0.2, **kwargs),
        lambda: {"ids": ids, "mask": mask},
        call=padded,
        make_layer_without_dropout=lambda **kwargs: make_encoder(
            hidden_dropout=0.0, attention_dropout=0.0, **kwargs
        ),
        skip=["keras_file"],  # `tf.where` above does not come back; every tagger's file does
    )


def test_fill_refuses_what_has_no_place():
    with pytest.raises(AttributeError, match="no_such_weight"):
        make_encoder().fill({"no_such_weight": np.zeros(3, np.float32)})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be from 1 to 65536. Received: 0"),
        ({"hidden_dropout": 1.0}, r"hidden_dropout must be in \[0, 1\)"),
        ({"activation": "tanh"}, "the activation 'tanh' is not known"),
        ({"num_heads": 3}, "the width 8 is not a multiple of its 3 attention heads"),
        ({"positions": "learnt"}, "positions of the kind 'learnt' are not known"),
        ({"positions": "relative"}, "0 rows are too few for relative positions"),
        ({"positions": "rotary", "num_heads": 8}, "heads of the odd width 1 do not rotate"),
        ({"groups": 3}, "2 layers do not make 3 groups"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_encoder(**options).build([None, None])


MASK = np.arange(5) < np.array([[5], [3], [1]])


def call(layer, inputs, seed=None):
    """The layer on padded rows [R, S, D]."""
    mask = tf.cast(inputs["mask"], tf.bool)
    places = tf.where(mask)
    states = layer(tf.gather_nd(inputs["states"], places), places, mask, dropout_seed=seed)
    return tf.scatter_nd(places, states, tf.shape(inputs["states"], tf.int64))


def make_states():
    return np.random.default_rng(1).standard_normal([3, 5, 8]).astype(np.float32)


def test_contract_of_a_layer():
    check_layer(
        lambda **kwargs: TransformerLayer(
            architecture(hidden_dropout=0.3, attention_dropout=0.2), **kwargs
        ),
        lambda: {"states": make_states(), "mask": MASK},
        call=call,
        make_layer_without_dropout=lambda **kwargs: TransformerLayer(
            architecture(hidden_dropout=0.0, attention_dropout=0.0), **kwargs
        ),
        skip=["keras_file"],  # `tf.where` above does not come back; every tagger's file does
    )


def test_only_wanted_states():
    """They are the same, with and without dropout of attention weights."""
    layer = TransformerLayer(architecture(hidden_dropout=0.0, attention_dropout=0.3))
    places = tf.where(MASK)
    states = tf.gather_nd(tf.constant(make_states()), places)
    wanted = tf.constant([7, 0, 5], tf.int64)
    for seed in (None, make_seed(1)):
        every = layer(states, places, tf.constant(MASK), dropout_seed=seed)
        some = layer(states, places, tf.constant(MASK), wanted=wanted, dropout_seed=seed)
        np.testing.assert_allclose(some, tf.gather(every, wanted), atol=1e-6)
