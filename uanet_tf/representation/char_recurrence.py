"""Characters of a word to a vector by recurrences: a bidirectional LSTM, a GRU."""

from typing import Any

import tensorflow as tf

from uanet_tf.arguments import check_even, check_even_setting, check_positive
from uanet_tf.layers.bidirectional import Bidirectional
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.numerics import add_linear, linear
from uanet_tf.ops.recurrence import GRU, LSTM
from uanet_tf.ops.shapes import permute
from uanet_tf.representation.char_layer import CharLayer


class CharRecurrence(CharLayer):
    """Base of bidirectional recurrences over the characters.

    Args (further ones: ``CharLayer``):
      hidden_width: width of the states, both directions together; even.

    Attributes:
      cell: the recurrence of one direction, see ``ops.recurrence``.
    """

    cell: Any = None
    reads_lite = True

    def __init__(self, num_chars: int, *, hidden_width: int, **kwargs):
        super().__init__(num_chars, **kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)

    @classmethod
    def check_settings(cls, config):
        check_even_setting("char_hidden_width", config.representation.char_hidden_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        width = config.representation.char_hidden_width
        return super().from_settings(config, vocabulary, hidden_width=width, **kwargs)

    def build(self, input_shape):
        super().build(input_shape)
        self.recurrence = Bidirectional(self, self.cell, self.char_width, self.hidden_width // 2)

    def states(
        self, char_ids: tf.Tensor, lite: LiteGraph | None
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """States of both directions [W, U, hidden_width / 2], 0 at padding; the mask [U, W]."""
        vectors, real = self.embed(char_ids)
        vectors, times = permute(vectors, [1, 0, 2]), tf.transpose(real)  # [W, U, ...]
        return *self.recurrence(vectors, times, lite=lite), real


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharBiLSTM(CharRecurrence):
    """Character embedding, a bidirectional LSTM, the last state of each direction.

    The last state of the forward LSTM is that at the last character of the word, the last one
    of the backward LSTM that at the first.

    Its arguments are those of ``CharRecurrence``.

    Output shape: [U, hidden_width], zeros for a word without characters.

    Example:
    >>> CharBiLSTM(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference: Lample et al., 2016, "Neural Architectures for Named Entity Recognition" (section
      4.1).
    """

    cell = LSTM

    def __init__(self, num_chars: int, *, char_width: int = 25, hidden_width: int = 50, **kwargs):
        super().__init__(num_chars, char_width=char_width, hidden_width=hidden_width, **kwargs)

    @property
    def output_width(self) -> int:
        return self.hidden_width

    def call(self, char_ids: tf.Tensor, lite: LiteGraph | None = None) -> tf.Tensor:
        forward, backward, real = self.states(char_ids, lite)
        lengths = tf.reduce_sum(tf.cast(real, tf.int32), axis=1)
        last = tf.maximum(lengths - 1, 0)  # states at padding are 0
        ends = tf.stack([last, tf.range(tf.size(last))], axis=-1)  # [U, 2]
        return tf.concat([tf.gather_nd(forward, ends), backward[0]], axis=-1)  # [U, hidden_width]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharGRU(CharRecurrence):
    """Character embedding, a bidirectional GRU, the sum of its states, a feed-forward layer.

    With s the sum over the word's characters of the states of both directions, side by side,
    the output is relu(W s + b).

    Args (further ones: ``CharRecurrence``):
      feedforward_width: width of the output.

    Example:
    >>> CharGRU(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference: Dinarelli and Grobol, 2019, "Seq2Biseq: Bidirectional Output-wise Recurrent Neural
      Networks for Sequence Modelling".
    """

    cell = GRU

    def __init__(
        self, num_chars: int, *, hidden_width: int = 60, feedforward_width: int = 50, **kwargs
    ):
        super().__init__(num_chars, hidden_width=hidden_width, **kwargs)
        self.feedforward_width = check_positive("feedforward_width", feedforward_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        width = config.representation.char_filters
        return super().from_settings(config, vocabulary, feedforward_width=width, **kwargs)

    @property
    def output_width(self) -> int:
        return self.feedforward_width

    def build(self, input_shape):
        super().build(input_shape)
        self.output_kernel, self.output_bias = add_linear(
            self, "output", self.hidden_width, self.feedforward_width
        )

    def call(self, char_ids: tf.Tensor, lite: LiteGraph | None = None) -> tf.Tensor:
        *ways, _ = self.states(char_ids, lite)
        # States at padding are 0, so the sum over all positions is that over characters.
        sums = [tf.reduce_sum(states, axis=0) for states in ways]
        summed = tf.concat(sums, axis=-1)  # [U, hidden_width]
        return tf.nn.relu(linear(summed, self.output_kernel, self.output_bias))
