"""Characters of a word to a vector: states of a bidirectional GRU, summed."""

import tensorflow as tf

from uanet_tf.arguments import check_positive
from uanet_tf.ops.gru import close_padding, gru_scan
from uanet_tf.ops.initializers import block_orthogonal
from uanet_tf.ops.linear import linear
from uanet_tf.representation.char_layer import CharLayer

DIRECTIONS = ("forward", "backward")


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
      char_ids: [U, W] int32, one word a row, 0 at padding, right-padded.

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
        if hidden_width < 2 or hidden_width % 2:
            raise ValueError(
                f"`hidden_width` must be even and positive. Received: hidden_width={hidden_width}"
            )
        self.hidden_width = hidden_width
        self.feedforward_width = check_positive("feedforward_width", feedforward_width)

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        return self.feedforward_width

    def build(self, input_shape):
        super().build(input_shape)
        units = self.hidden_width // 2
        self.kernels, self.recurrent_kernels, self.biases = {}, {}, {}
        for way in DIRECTIONS:
            self.kernels[way] = self.add_weight(
                name=f"kernel_{way}",
                shape=[self.char_width, 3 * units],
                initializer="glorot_uniform",
            )
            self.recurrent_kernels[way] = self.add_weight(
                name=f"recurrent_kernel_{way}",
                shape=[units, 3 * units],
                initializer=block_orthogonal,
            )
            self.biases[way] = self.add_weight(
                name=f"bias_{way}", shape=[3 * units], initializer="zeros"
            )
        self.output_kernel = self.add_weight(
            name="output_kernel",
            shape=[self.hidden_width, self.feedforward_width],
            initializer="glorot_uniform",
        )
        self.output_bias = self.add_weight(
            name="output_bias", shape=[self.feedforward_width], initializer="zeros"
        )

    def call(self, char_ids: tf.Tensor) -> tf.Tensor:
        vectors, real = self.embed(char_ids)
        vectors = tf.transpose(vectors, [1, 0, 2])  # [W, U, char_width]
        real = tf.transpose(real)  # [W, U]
        # States at padding are 0, so the sum over all positions is that over characters.
        sums = [tf.reduce_sum(self._scan(vectors, real, way), axis=0) for way in DIRECTIONS]
        summed = tf.concat(sums, axis=-1)  # [U, hidden_width]
        return tf.nn.relu(linear(summed, self.output_kernel, self.output_bias))

    def _scan(self, vectors, real, way):
        """States [W, U, units] of one direction."""
        projected = linear(vectors, self.kernels[way], self.biases[way])  # [W, U, 3 units]
        return gru_scan(
            close_padding(projected, real),
            tf.convert_to_tensor(self.recurrent_kernels[way]),
            reverse=way == "backward",
        )

    def get_config(self):
        config = super().get_config()
        config.update(hidden_width=self.hidden_width, feedforward_width=self.feedforward_width)
        return config
