"""Tokens to vectors, once per distinct token: word embedding and, optionally, characters."""

from typing import Any

import numpy as np
import tensorflow as tf

from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.arguments import ArgumentError, check_positive, check_rate
from uanet_tf.config import Config
from uanet_tf.data.lookup import Entries
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.ops.dropout import dropout, fold_in, philox_uniform, seed_of_batch
from uanet_tf.ops.graphs import lite_argument
from uanet_tf.ops.numerics import add_embeddings
from uanet_tf.ops.shapes import check_shape, spread
from uanet_tf.representation.pretrained_vectors import PretrainedVectors
from uanet_tf.representation.representation import Representation

# Consumers of the dropout seed.
_UNKNOWN, _VECTORS = range(2)


class FormRepresentation(Representation):
    """Base of representations that are computed once per distinct token, then spread.

    It owns the word embedding ``embeddings`` [num_words, word_width] and the character layer,
    reads rare words as unknown, and applies dropout to the result. A subclass defines ``call`` with
    ``word_vectors`` and ``spread``, and ``output_width``; a call with ``spread=False`` gives the
    vectors [U, D] of distinct tokens.

    With pretrained vectors a word's vector is base + delta: base is its row in ``pretrained``,
    which is never trained, delta its row in ``embeddings`` [num_trained, word_width], which begins
    at zero where there is a base. A word without delta is read by its base alone, one with neither
    as unknown.

    Args:
      num_words: number of word ids, padding (0) and unknown (1) included.
      word_width: width of word vectors.
      char_layer: layer from [U, W] character ids to [U, F] with an ``output_width`` F, or None.
      embedding_dropout: rate of dropout on the representation.
      unknown_word_rate: with a dropout seed, a word seen n times in training is read as
        unknown with probability rate / (rate + n), which trains the unknown word's vector; with a
        base, as one without delta, which trains the rest to read words that training never saw.
      word_counts: [num_trained - 2] training counts; needed for ``unknown_word_rate`` only.
      num_trained: with pretrained vectors, of how many ids, the first, vectors are trained; None:
        there are no pretrained vectors, and all are trained.

    Attributes:
      pretrained: the frozen table, which a drafter and its refiner share; or None.
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
        num_trained: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_words = check_positive("num_words", num_words)
        self.word_width = check_positive("word_width", word_width)
        self.num_trained = num_trained
        self.pretrained: Any = None
        if num_trained is not None:
            if not FIRST_ID <= num_trained <= num_words:
                raise ArgumentError(
                    f"`num_trained` must be from {FIRST_ID} to num_words={num_words}. Received: "
                    f"num_trained={num_trained}"
                )
            self.pretrained = PretrainedVectors(num_words, word_width, name="pretrained")
        counted = self._num_rows - FIRST_ID
        if unknown_word_rate and (word_counts is None or len(word_counts) != counted):
            raise ArgumentError(
                "`word_counts` must hold a count for each of the "
                f"{counted} words. Received: word_counts={word_counts!r:.60}"
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
    def _num_rows(self) -> int:
        """Rows of ``embeddings``."""
        return self.num_words if self.num_trained is None else self.num_trained

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
            num_trained=vocabulary.num_trained + FIRST_ID if config.data.word_vectors else None,
            **kwargs,
        )

    def build(self, input_shape):
        self.embeddings = add_embeddings(self, self._num_rows, self.word_width)
        if self.char_layer is not None and not self.char_layer.built:
            self.char_layer.build([None, None])
        if self.pretrained is not None and not self.pretrained.built:
            self.pretrained.build([None])
        super().build(input_shape)

    def share_pretrained(self, other: Representation) -> None:
        """Reads the frozen table of another, in place of one of its own; before it is built."""
        if isinstance(other, FormRepresentation):
            self.pretrained = other.pretrained

    def word_vectors(self, features, dropout_seed=None) -> tuple[tf.Tensor, tf.Tensor]:
        """The words' vectors [U, word_width], and the ids [U] under which they are read.

        Some words are read as unknown, in training some that are not.
        """
        ids = features["form_word_ids"]
        if self.pretrained is None:
            ids = self._partly_hidden(ids, dropout_seed)
            return tf.gather(self.embeddings, ids), ids
        base, has_base = self.pretrained(ids)
        trained = tf.where(ids < self._num_rows, ids, UNKNOWN_ID)
        trained = self._partly_hidden(trained, dropout_seed)
        delta = tf.gather(self.embeddings, trained)
        # The unknown word's vector is for words without a base.
        only_base = has_base & tf.equal(trained, UNKNOWN_ID)
        delta = tf.where(tf.expand_dims(only_base, -1), tf.zeros_like(delta), delta)
        return tf.cast(base, delta.dtype) + delta, tf.where(has_base, ids, trained)

    def _partly_hidden(self, word_ids: tf.Tensor, dropout_seed: tf.Tensor | None) -> tf.Tensor:
        """The ids [U], with a dropout seed some of rare words as unknown."""
        seed = fold_in(dropout_seed, _UNKNOWN)
        if seed is None or not self.unknown_word_rate:
            return word_ids
        # A part of a batch has the forms of all of it.
        draw = philox_uniform(tf.shape(word_ids), seed_of_batch(seed))
        hidden = draw < tf.gather(self._unknown_probability, word_ids)
        return tf.where(hidden, UNKNOWN_ID, word_ids)

    def spread(self, vectors, features, dropout_seed=None) -> tf.Tensor:
        """Returns [B, T, D] from the vectors [U, D], with dropout of its own for each token."""
        vectors = spread(vectors, features.get("form_index"))
        return dropout(vectors, self.embedding_dropout, fold_in(dropout_seed, _VECTORS))

    def get_config(self):
        layer = self.char_layer
        spelled = layer and tf.keras.saving.serialize_keras_object(layer)
        return {**super().get_config(), "char_layer": spelled}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        if config.get("char_layer") is not None:
            config["char_layer"] = tf.keras.saving.deserialize_keras_object(config["char_layer"])
        return cls(**config)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class WordRepresentation(FormRepresentation):
    """Word embedding concatenated with a character layer's output, once per distinct token.

    Its arguments are those of ``FormRepresentation``; without a character layer it reads words
    only.

    Call arguments:
      features: dictionary with form_word_ids [U], form_char_ids [U, W] and form_index [B, T],
        int32; without form_index they are the tokens of one sentence.
      dropout_seed: [2] int32 seed, or None to drop nothing.
      spread: False for the vectors of distinct tokens.

    Output shape: [B, T, word_width + F].
    Reference: Ma and Hovy, 2016; unknown words: Kiperwasser and Goldberg, 2016 (section 5).
    """

    reads_lite = True

    @property
    def output_width(self) -> int:
        """Width of a token's vector."""
        chars = self.char_layer
        return self.word_width + (0 if chars is None else chars.output_width)

    def call(self, features, dropout_seed=None, spread=True, lite=None):
        vectors, _ = self.word_vectors(features, dropout_seed)
        if self.char_layer is not None:
            taken = lite_argument(self.char_layer, lite)
            spelled = self.char_layer(features["form_char_ids"], **taken)  # [U, F]
            width = self.char_layer.output_width
            said = f"vectors [U, {width}], whose width is its output_width"
            check_shape(self.char_layer, "", spelled, [None, width], said)
            vectors = tf.concat([vectors, spelled], axis=-1)  # [U, word_width + F]
        if not spread:
            return vectors
        return self.spread(vectors, features, dropout_seed)  # [B, T, word_width + F]
