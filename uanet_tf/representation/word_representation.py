"""Tokens to vectors: word embedding and, optionally, characters."""

from typing import Any

import tensorflow as tf

from uanet_tf.errors import ArgumentError
from uanet_tf.representation.form_representation import FormRepresentation


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
