import numpy as np
import tensorflow as tf

from tests.layer_contract import check_layer
from uanet_tf.ops.dropout import make_seed
from uanet_tf.representation.bert_layer import BertLayer

MASK = np.arange(5) < np.array([[5], [3], [1]])


def call(layer, inputs, seed=None):
    """The layer on padded rows [R, S, D]."""
    mask = tf.cast(inputs["mask"], tf.bool)
    places = tf.where(mask)
    states = layer(tf.gather_nd(inputs["states"], places), places, mask, dropout_seed=seed)
    return tf.scatter_nd(places, states, tf.shape(inputs["states"], tf.int64))


def make_states():
    return np.random.default_rng(1).standard_normal([3, 5, 8]).astype(np.float32)


def test_contract():
    check_layer(
        lambda **kwargs: BertLayer(2, 6, hidden_dropout=0.3, attention_dropout=0.2, **kwargs),
        lambda: {"states": make_states(), "mask": MASK},
        call=call,
        make_layer_without_dropout=lambda **kwargs: BertLayer(
            2, 6, hidden_dropout=0.0, attention_dropout=0.0, **kwargs
        ),
        skip=["keras_file"],  # `tf.where` above does not come back; every tagger's file does
    )


def test_only_wanted_states():
    """They are the same, with and without dropout of attention weights."""
    layer = BertLayer(2, 6, hidden_dropout=0.0, attention_dropout=0.3)
    places = tf.where(MASK)
    states = tf.gather_nd(tf.constant(make_states()), places)
    wanted = tf.constant([7, 0, 5], tf.int64)
    for seed in (None, make_seed(1)):
        every = layer(states, places, tf.constant(MASK), dropout_seed=seed)
        some = layer(states, places, tf.constant(MASK), wanted=wanted, dropout_seed=seed)
        np.testing.assert_allclose(some, tf.gather(every, wanted), atol=1e-6)
