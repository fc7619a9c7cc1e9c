"""Initial values of weights that hold several gates side by side."""

import tensorflow as tf


def block_orthogonal(shape, dtype=None, **_) -> tf.Tensor:
    """An orthogonal [H, H] block for each gate of a recurrent kernel, from the global seed.

    Args:
      shape: [H, gates * H].
      dtype: dtype of the weight.
    """
    # One initializer per block: an instance without a seed gives the same values each time.
    blocks = [
        tf.keras.initializers.Orthogonal()([shape[0], shape[0]], dtype=dtype)
        for _ in range(shape[1] // shape[0])
    ]
    return tf.concat(blocks, axis=-1)


def forget_one(shape, dtype=None, **_) -> tf.Tensor:
    """Zeros, and ones for the forget gate, so that an LSTM remembers from the start.

    Args:
      shape: [4 H], gates in the order i, f, o, g.
      dtype: dtype of the weight.

    Reference:
      Jozefowicz et al., 2015, "An Empirical Exploration of Recurrent Network Architectures".
    """
    units = shape[0] // 4
    zeros, ones = tf.zeros([units], dtype), tf.ones([units], dtype)
    return tf.concat([zeros, ones, zeros, zeros], axis=0)
