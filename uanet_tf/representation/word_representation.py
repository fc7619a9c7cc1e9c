"""Tokens to vectors: word embedding and, optionally, characters."""

import math

import numpy as np
import tensorflow as tf

from uanet_tf.data.vocabulary import UNKNOWN_ID
from uanet_tf.ops.dropout import dropout, fold_in


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class WordRepresentation(tf.keras.layers.Layer):
    """Word embedding concatenated with a character layer's output, once a distinct token.

    Args:
      num_words: number of word ids, padding (0) and unknown (1) included.
      num_chars: number of character ids.
      word_width: width of word vectors.
      char_layer: layer from [U, W] character ids to [U, F], or None for words alone.
      embedding_dropout: rate of dropout on the representation.
      unknown_word_rate: with a dropout seed, a word seen n times in training is read as
        unknown with probability rate / (rate + n), which trains the unknown word's vector.
      word_counts: [num_words - 2] training counts; needed for ``unknown_word_rate`` only.

    Call arguments:
      features: dictionary with form_word_ids [U], form_char_ids [U, W] and
        form_index [B, T], int32.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape:
      [B, T, word_width + F].

    Reference:
      Ma and Hovy, 2016; unknown words: Kiperwasser and Goldberg, 2016 (section 5).
    """

    def __init__(
        self,
        num_words: int,
        *,
        word_width: int = 100,
        char_layer: tf.keras.layers.Layer | None = None,
        embedding_dropout: float = 0.5,
        unknown_word_rate: float = 0.0,
        word_counts: list[int] | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not 0 <= embedding_dropout < 1:
            raise ValueError(
                "`embedding_dropout` must be in [0, 1). "
                f"Received: embedding_dropout={embedding_dropout}"
            )
        if unknown_word_rate and (word_counts is None or len(word_counts) != num_words - 2):
            raise ValueError(
                "`word_counts` must hold a count for each of the "
                f"{num_words - 2} words. Received: word_counts={word_counts!r:.60}"
            )
        self.num_words = num_words
        self.word_width = word_width
        self.char_layer = char_layer
        self.embedding_dropout = embedding_dropout
        self.unknown_word_rate = unknown_word_rate
        self.word_counts = word_counts
        if unknown_word_rate:
            counts = np.concatenate([[np.inf, np.inf], np.asarray(word_counts, float)])
            self._unknown_probability = tf.constant(
                unknown_word_rate / (unknown_word_rate + counts), tf.float32
            )

    def build(self, input_shape):
        scale = math.sqrt(3.0 / self.word_width)
        self.embeddings = self.add_weight(
            name="embeddings",
            shape=[self.num_words, self.word_width],
            initializer=tf.keras.initializers.RandomUniform(-scale, scale),
        )
        if self.char_layer is not None and not self.char_layer.built:
            self.char_layer.build([None, None])
        super().build(input_shape)

    def call(self, features, dropout_seed=None):
        word_ids = self._hide_words(features["form_word_ids"], fold_in(dropout_seed, 0))
        vectors = tf.gather(self.embeddings, word_ids)  # [U, word_width]
        if self.char_layer is not None:
            spelled = self.char_layer(features["form_char_ids"])  # [U, F]
            vectors = tf.concat([vectors, spelled], axis=-1)
        vectors = tf.gather(vectors, features["form_index"])  # [B, T, word_width + F]
        return dropout(vectors, self.embedding_dropout, fold_in(dropout_seed, 1))

    def _hide_words(self, word_ids, seed):
        if seed is None or not self.unknown_word_rate:
            return word_ids
        draw = tf.random.stateless_uniform(tf.shape(word_ids), seed, alg="philox")
        hidden = draw < tf.gather(self._unknown_probability, word_ids)
        return tf.where(hidden, UNKNOWN_ID, word_ids)

    def compute_output_shape(self, input_shape):
        width = self.word_width + (self.char_layer.filters if self.char_layer else 0)
        return [*input_shape["form_index"], width]

    def get_config(self):
        config = super().get_config()
        char_layer = self.char_layer
        config.update(
            num_words=self.num_words,
            word_width=self.word_width,
            char_layer=char_layer and tf.keras.saving.serialize_keras_object(char_layer),
            embedding_dropout=self.embedding_dropout,
            unknown_word_rate=self.unknown_word_rate,
            word_counts=self.word_counts,
        )
        return config

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        if config.get("char_layer") is not None:
            config["char_layer"] = tf.keras.saving.deserialize_keras_object(config["char_layer"])
        return cls(**config)
