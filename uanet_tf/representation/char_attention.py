"""Tokens to vectors: a gate between the word embedding and the word's characters."""

import tensorflow as tf

from uanet_lite.token_ids import UNKNOWN_ID
from uanet_tf.arguments import ArgumentError
from uanet_tf.ops.graphs import lite_argument
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.ops.numerics import linear, widen
from uanet_tf.representation.char_recurrence import CharBiLSTM
from uanet_tf.representation.word_representation import FormRepresentation


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharAttention(FormRepresentation):
    """Mixes, element by element, a word's embedding x with a vector of its characters, m.

    m = tanh(W_m h), h the character layer's output; z = sig(W_3 tanh(W_1 x + W_2 m));
    the representation is z x + (1 - z) m (Rei's Eq. 13). All products have a bias, as in the
    authors' code. In training m is drawn to x, not x to m, for words with an embedding of
    their own: the sum over tokens of 1 - cos(m, x), without gradient at x (Rei's Eq. 14). So m
    learns to replace x where there is none.

    Args (further ones: ``FormRepresentation``):
      char_layer: layer from [U, W] character ids to [U, F] with an ``output_width`` F.
        Paper: ``CharBiLSTM``.

    Call arguments:
      features: dictionary with form_word_ids [U], form_char_ids [U, W] and form_index [B, T],
        int32; lengths [B] for the objective.
      dropout_seed: [2] int32 seed, or None to drop nothing.
      return_loss: return the extra objective too, see ``with_auxiliary_loss``.

    Output shape: [B, T, word_width].

    Example:
    >>> layer = CharAttention(9, word_width=4, char_layer=CharBiLSTM(80))
    >>> features = {
    ...     "form_word_ids": tf.constant([3, 1]),
    ...     "form_char_ids": tf.constant([[5, 9, 3], [4, 2, 0]]),
    ...     "form_index": tf.constant([[0, 1, 0]]),
    ... }
    >>> layer(features).shape
    TensorShape([1, 3, 4])

    Reference: Rei et al., COLING 2016, "Attending to Characters in Neural Sequence Labeling
      Models".
    """

    def __init__(self, num_words: int, *, char_layer: tf.keras.layers.Layer, **kwargs):
        super().__init__(num_words, char_layer=char_layer, **kwargs)
        if char_layer is None:
            raise ArgumentError("`char_layer` must be a layer. Received: char_layer=None")

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        chars = CharBiLSTM.from_settings(config, vocabulary)
        return super().from_settings(config, vocabulary, char_layer=chars, **kwargs)

    reads_lite = True

    @property
    def output_width(self) -> int:
        """Width of a token's vector."""
        return self.word_width

    def build(self, input_shape):
        super().build(input_shape)
        width = self.word_width
        self.char_kernel = self._kernel("char", self.char_layer.output_width)  # W_m
        self.gate_word_kernel = self._kernel("gate_word", width)  # W_1
        self.gate_char_kernel = self._kernel("gate_char", width)  # W_2
        self.gate_kernel = self._kernel("gate", width)  # W_3
        self.char_bias, self.gate_hidden_bias, self.gate_bias = (
            self.add_weight(name=f"{name}_bias", shape=[width], initializer="zeros")
            for name in ("char", "gate_hidden", "gate")
        )

    def _kernel(self, name, width):
        return self.add_weight(
            name=f"{name}_kernel", shape=[width, self.word_width], initializer="glorot_uniform"
        )

    def call(self, features, dropout_seed=None, spread=True, return_loss=False, lite=None):
        words, word_ids = self.word_vectors(features, dropout_seed)  # x [U, word_width], [U]
        lite = lite_argument(self.char_layer, lite)
        h = self.char_layer(features["form_char_ids"], **lite)  # [U, F]
        chars = tf.tanh(linear(h, self.char_kernel, self.char_bias))  # m [U, word_width]

        z = self.gate(words, chars)
        vectors = z * words + (1.0 - z) * chars
        if not spread:
            return vectors
        vectors = self.spread(vectors, features, dropout_seed)
        if not return_loss:
            return vectors
        return vectors, similarity_loss(words, chars, word_ids, features)

    def gate(self, words: tf.Tensor, chars: tf.Tensor) -> tf.Tensor:
        """Returns z [U, word_width], the share of the embedding, from x and m [U, word_width]."""
        hidden = linear(words, self.gate_word_kernel, self.gate_hidden_bias)
        hidden = tf.tanh(hidden + linear(chars, self.gate_char_kernel))
        return tf.sigmoid(linear(hidden, self.gate_kernel, self.gate_bias))

    def with_auxiliary_loss(self, features, dropout_seed=None):
        return self(features, dropout_seed=dropout_seed, return_loss=True)


def similarity_loss(
    words: tf.Tensor, chars: tf.Tensor, word_ids: tf.Tensor, features: dict[str, tf.Tensor]
) -> tf.Tensor:
    """Sum over tokens of 1 - cos(m, x), words that are read as unknown left out (Eq. 14).

    A scalar in float32 at least, from x [U, D], which gets no gradient, m [U, D] and the ids [U] as
    read.
    """
    target = tf.math.l2_normalize(tf.stop_gradient(widen(words)), axis=-1)
    found = tf.math.l2_normalize(widen(chars), axis=-1)
    distance = 1.0 - tf.reduce_sum(target * found, axis=-1)  # [U]
    distance = tf.where(word_ids > UNKNOWN_ID, distance, 0.0)
    index = features["form_index"]
    mask = sequence_mask(features["lengths"], tf.shape(index)[1])
    return tf.reduce_sum(tf.where(mask, tf.gather(distance, index), 0.0))
