"""Characters of a word to a vector: last states of an LSTM in either direction."""

import tensorflow as tf

from uanet_tf.ops.initializers import block_orthogonal
from uanet_tf.ops.linear import linear
from uanet_tf.ops.lstm import PADDING_SHIFT, lstm_scan
from uanet_tf.representation.char_layer import CharLayer

DIRECTIONS = ("forward", "backward")


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
      char_ids: [U, W] int32, one word a row, 0 at padding, right-padded.

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
        if hidden_width < 2 or hidden_width % 2:
            raise ValueError(
                f"`hidden_width` must be even and positive. Received: hidden_width={hidden_width}"
            )
        self.hidden_width = hidden_width

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        return self.hidden_width

    def build(self, input_shape):
        super().build(input_shape)
        units = self.hidden_width // 2
        self.kernels, self.recurrent_kernels, self.biases = {}, {}, {}
        for way in DIRECTIONS:
            self.kernels[way] = self.add_weight(
                name=f"kernel_{way}",
                shape=[self.char_width, 4 * units],
                initializer="glorot_uniform",
            )
            self.recurrent_kernels[way] = self.add_weight(
                name=f"recurrent_kernel_{way}",
                shape=[units, 4 * units],
                initializer=block_orthogonal,
            )
            self.biases[way] = self.add_weight(
                name=f"bias_{way}", shape=[4 * units], initializer=_forget_one
            )

    def call(self, char_ids: tf.Tensor) -> tf.Tensor:
        vectors, real = self.embed(char_ids)
        vectors = tf.transpose(vectors, [1, 0, 2])  # [W, U, char_width]
        padding = tf.expand_dims(tf.logical_not(tf.transpose(real)), -1)  # [W, U, 1]
        forward, backward = (self._scan(vectors, padding, way) for way in DIRECTIONS)

        lengths = tf.reduce_sum(tf.cast(real, tf.int32), axis=1)
        last = tf.maximum(lengths - 1, 0)  # states at padding are 0
        ends = tf.stack([last, tf.range(tf.size(last))], axis=-1)  # [U, 2]
        return tf.concat([tf.gather_nd(forward, ends), backward[0]], axis=-1)  # [U, hidden_width]

    def _scan(self, vectors, padding, way):
        """States [W, U, units]; exactly 0 at padding, where input and forget gates are closed."""
        units = self.hidden_width // 2
        projected = linear(vectors, self.kernels[way], self.biases[way])  # [W, U, 4 units]
        closed = tf.constant([PADDING_SHIFT] * (2 * units) + [0.0] * (2 * units), projected.dtype)
        return lstm_scan(
            tf.where(padding, closed, projected),
            tf.convert_to_tensor(self.recurrent_kernels[way]),
            reverse=way == "backward",
        )

    def get_config(self):
        config = super().get_config()
        config.update(hidden_width=self.hidden_width)
        return config


def _forget_one(shape, dtype=None, **_):
    """Zeros, and ones for the forget gate (Jozefowicz et al., 2015)."""
    units = shape[0] // 4
    zeros, ones = tf.zeros([units], dtype), tf.ones([units], dtype)
    return tf.concat([zeros, ones, zeros, zeros], axis=0)
