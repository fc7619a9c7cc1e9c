"""Characters of a word to a vector by recurrences: a bidirectional LSTM, a GRU."""

import tensorflow as tf

from uanet_tf.arguments import check_even, check_even_setting, check_positive
from uanet_tf.layers.bidirectional import Bidirectional
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.recurrence import GRU, LSTM
from uanet_tf.ops.shapes import permute
from uanet_tf.representation.char_layer import CharLayer


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharBiLSTM(CharLayer):
    """Character embedding, a bidirectional LSTM, the last state of each direction.

    The last state of the forward LSTM is that at the last character of the word, the last one
    of the backward LSTM that at the first.

    Args:
      num_chars: number of character ids, padding (0) and unknown (1) included.
      char_width: width of character vectors.
      hidden_width: width of the output, both directions together; even.

    Call arguments:
      char_ids: [U, W] int32, one word per row, 0 at padding, right-padded.

    Output shape:
      [U, hidden_width], zeros for a word without characters.

    Example:

    >>> CharBiLSTM(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference:
      Lample et al., 2016, "Neural Architectures for Named Entity Recognition" (section 4.1).
    """

    def __init__(self, num_chars: int, *, char_width: int = 25, hidden_width: int = 50, **kwargs):
        super().__init__(num_chars, char_width=char_width, **kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)

    @classmethod
    def check_settings(cls, config):
        check_even_setting("char_hidden_width", config.representation.char_hidden_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.representation
        return super().from_settings(
            config,
            vocabulary,
            hidden_width=part.char_hidden_width,
            **kwargs,
        )

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        return self.hidden_width

    def build(self, input_shape):
        super().build(input_shape)
        self.lstm = Bidirectional(self, LSTM, self.char_width, self.hidden_width // 2)

    reads_lite = True

    def call(self, char_ids: tf.Tensor, lite: LiteGraph | None = None) -> tf.Tensor:
        vectors, real = self.embed(char_ids)
        vectors, times = permute(vectors, [1, 0, 2]), tf.transpose(real)  # [W, U, ...]
        forward, backward = self.lstm(vectors, times, lite=lite)  # [W, U, hidden_width / 2]

        lengths = tf.reduce_sum(tf.cast(real, tf.int32), axis=1)
        last = tf.maximum(lengths - 1, 0)  # states at padding are 0
        ends = tf.stack([last, tf.range(tf.size(last))], axis=-1)  # [U, 2]
        return tf.concat([tf.gather_nd(forward, ends), backward[0]], axis=-1)  # [U, hidden_width]

    def get_config(self):
        config = super().get_config()
        config.update(hidden_width=self.hidden_width)
        return config


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharGRU(CharLayer):
    """Character embedding, a bidirectional GRU, the sum of its states, a feed-forward layer.

    With s the sum over the word's characters of the states of both directions, side by side,
    the output is relu(W s + b).

    Args:
      num_chars: number of character ids, padding (0) and unknown (1) included.
      char_width: width of character vectors.
      hidden_width: width of the states, both directions together; even.
      feedforward_width: width of the output.

    Call arguments:
      char_ids: [U, W] int32, one word per row, 0 at padding, right-padded.

    Output shape:
      [U, feedforward_width].

    Example:

    >>> CharGRU(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference:
      Dinarelli and Grobol, 2019, "Seq2Biseq: Bidirectional Output-wise Recurrent Neural
      Networks for Sequence Modelling".
    """

    def __init__(
        self,
        num_chars: int,
        *,
        char_width: int = 30,
        hidden_width: int = 60,
        feedforward_width: int = 50,
        **kwargs,
    ):
        super().__init__(num_chars, char_width=char_width, **kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)
        self.feedforward_width = check_positive("feedforward_width", feedforward_width)

    @classmethod
    def check_settings(cls, config):
        check_even_setting("char_hidden_width", config.representation.char_hidden_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.representation
        return super().from_settings(
            config,
            vocabulary,
            hidden_width=part.char_hidden_width,
            feedforward_width=part.char_filters,
            **kwargs,
        )

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        return self.feedforward_width

    def build(self, input_shape):
        super().build(input_shape)
        self.gru = Bidirectional(self, GRU, self.char_width, self.hidden_width // 2)
        self.output_kernel = self.add_weight(
            name="output_kernel",
            shape=[self.hidden_width, self.feedforward_width],
            initializer="glorot_uniform",
        )
        self.output_bias = self.add_weight(
            name="output_bias", shape=[self.feedforward_width], initializer="zeros"
        )

    reads_lite = True

    def call(self, char_ids: tf.Tensor, lite: LiteGraph | None = None) -> tf.Tensor:
        vectors, real = self.embed(char_ids)
        vectors, times = permute(vectors, [1, 0, 2]), tf.transpose(real)  # [W, U, ...]
        # States at padding are 0, so the sum over all positions is that over characters.
        sums = [tf.reduce_sum(states, axis=0) for states in self.gru(vectors, times, lite=lite)]
        summed = tf.concat(sums, axis=-1)  # [U, hidden_width]
        return tf.nn.relu(linear(summed, self.output_kernel, self.output_bias))

    def get_config(self):
        config = super().get_config()
        config.update(hidden_width=self.hidden_width, feedforward_width=self.feedforward_width)
        return config
