"""Tokens to vectors, once per distinct token: word embedding and, optionally, characters."""

import math
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.config import Config
from uanet_tf.data.lookup import Entries
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import ArgumentError
from uanet_tf.ops.dropout import dropout, fold_in, philox_uniform, seed_of_batch
from uanet_tf.ops.shapes import spread
from uanet_tf.representation.representation import Representation

# Consumers of the dropout seed.
_UNKNOWN, _VECTORS = range(2)


class FormRepresentation(Representation):
    """Base of representations that are computed once per distinct token, then spread.

    It owns the word embedding ``embeddings`` [num_words, word_width] and the character layer,
    reads rare words as unknown, and applies dropout to the result. A subclass defines ``call`` with
    ``word_ids`` and ``spread``, and ``output_width``; a call with ``spread=False`` gives the
    vectors [U, D] of distinct tokens.

    Args:
      num_words: number of word ids, padding (0) and unknown (1) included.
      word_width: width of word vectors.
      char_layer: layer from [U, W] character ids to [U, F] with an ``output_width`` F, or None.
      embedding_dropout: rate of dropout on the representation.
      unknown_word_rate: with a dropout seed, a word seen n times in training is read as
        unknown with probability rate / (rate + n), which trains the unknown word's vector.
      word_counts: [num_words - 2] training counts; needed for ``unknown_word_rate`` only.
    """

    of_forms = True

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
        self.num_words = check_positive("num_words", num_words)
        self.word_width = check_positive("word_width", word_width)
        if unknown_word_rate and (word_counts is None or len(word_counts) != num_words - 2):
            raise ArgumentError(
                "`word_counts` must hold a count for each of the "
                f"{num_words - 2} words. Received: word_counts={word_counts!r:.60}"
            )
        self.char_layer: Any = char_layer
        self.embedding_dropout = check_rate("embedding_dropout", embedding_dropout)
        self.unknown_word_rate = unknown_word_rate
        self._word_counts = None if word_counts is None else Entries(word_counts)
        if unknown_word_rate:
            counts = np.concatenate([[np.inf, np.inf], np.asarray(word_counts, float)])
            self._unknown_probability = tf.constant(
                unknown_word_rate / (unknown_word_rate + counts), tf.float32
            )

    @property
    def word_counts(self) -> list[int] | None:
        """Training counts of the words from id 2 on."""
        return None if self._word_counts is None else self._word_counts.values

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, **kwargs: Any
    ) -> "FormRepresentation":
        """The representation that a run's settings describe; see ``uanet_tf.registry``."""
        part = config.representation
        return cls(
            len(vocabulary.words) + FIRST_ID,
            word_width=part.word_width,
            embedding_dropout=part.embedding_dropout,
            unknown_word_rate=part.unknown_word_rate,
            word_counts=list(vocabulary.word_counts) if part.unknown_word_rate else None,
            **kwargs,
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

    def word_ids(self, features, dropout_seed=None) -> tf.Tensor:
        """Returns the ids [U] under which the words are read, some as unknown."""
        word_ids, seed = features["form_word_ids"], fold_in(dropout_seed, _UNKNOWN)
        if seed is None or not self.unknown_word_rate:
            return word_ids
        # A part of a batch has the forms of all of it.
        draw = philox_uniform(tf.shape(word_ids), seed_of_batch(seed))
        hidden = draw < tf.gather(self._unknown_probability, word_ids)
        return tf.where(hidden, UNKNOWN_ID, word_ids)

    def spread(self, vectors, features, dropout_seed=None) -> tf.Tensor:
        """Returns [B, T, D] from the vectors [U, D], with dropout of its own for each token."""
        vectors = spread(vectors, features["form_index"])
        return dropout(vectors, self.embedding_dropout, fold_in(dropout_seed, _VECTORS))

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


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class WordRepresentation(FormRepresentation):
    """Word embedding concatenated with a character layer's output, once per distinct token.

    Args:
      num_words: number of word ids, padding (0) and unknown (1) included.
      word_width: width of word vectors.
      char_layer: layer from [U, W] character ids to [U, F] with an ``output_width`` F, or None
        for words only.
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

    @property
    def output_width(self) -> int:
        """Width of a token's vector."""
        chars = self.char_layer
        return self.word_width + (0 if chars is None else chars.output_width)

    def call(self, features, dropout_seed=None, spread=True):
        vectors = tf.gather(self.embeddings, self.word_ids(features, dropout_seed))
        if self.char_layer is not None:
            spelled = self.char_layer(features["form_char_ids"])  # [U, F]
            self._check_spelled(spelled)
            vectors = tf.concat([vectors, spelled], axis=-1)  # [U, word_width + F]
        if not spread:
            return vectors
        return self.spread(vectors, features, dropout_seed)  # [B, T, word_width + F]

    def _check_spelled(self, vectors: Any) -> None:
        """Raises ArgumentError unless the character layer gave vectors [U, F]."""
        width = self.char_layer.output_width
        if not tf.is_tensor(vectors) or not vectors.shape.is_compatible_with([None, width]):
            found = vectors.shape if tf.is_tensor(vectors) else type(vectors).__name__
            raise ArgumentError(
                f"{type(self.char_layer).__name__} must return vectors [U, {width}], whose width "
                f"is its output_width. Received: {found}"
            )
