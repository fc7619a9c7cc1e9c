"""First values of weights that hold several gates side by side."""

import tensorflow as tf


def block_orthogonal(shape, dtype=None, **_) -> tf.Tensor:
    """An orthogonal [H, H] block for each gate of a recurrent kernel, from the global seed.

    Args:
      shape: [H, gates * H].
      dtype: dtype of the weight.
    """
    # One initializer a block: an instance without a seed gives the same values each time.
    blocks = [
        tf.keras.initializers.Orthogonal()([shape[0], shape[0]], dtype=dtype)
        for _ in range(shape[1] // shape[0])
    ]
    return tf.concat(blocks, axis=-1)
