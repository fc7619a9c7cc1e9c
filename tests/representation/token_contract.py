"""The layer contract for representations of distinct tokens."""

import numpy as np
import tensorflow as tf

from tests.layer_contract import check_layer


def check_representation(make_layer, make_layer_without_dropout):
    """As a layer of ids [B, T] and characters [B, T, W], each token a form of its own."""

    def call(layer, inputs, seed):
        ids, chars = inputs["ids"], inputs["chars"]
        features = {
            "form_word_ids": tf.reshape(ids, [-1]),
            "form_char_ids": tf.reshape(chars, [-1, 2]),
            "form_index": tf.reshape(tf.range(tf.size(ids)), tf.shape(ids)),
        }
        return layer(features, dropout_seed=seed)

    def make_inputs():
        rng = np.random.default_rng(1)
        return {
            "ids": rng.integers(1, 7, [2, 3]).astype(np.int32),
            "chars": rng.integers(1, 9, [2, 3, 2]).astype(np.int32),
        }

    check_layer(
        make_layer,
        make_inputs,
        call=call,
        make_layer_without_dropout=make_layer_without_dropout,
        skip=["keras_file"],  # `tf.size` above does not come back; every tagger's file does
    )
