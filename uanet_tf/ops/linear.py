"""One matrix product over the last axis, for any leading axes."""

import tensorflow as tf

from uanet_tf.ops.shapes import reshape, sizes


def linear(inputs: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
    """Returns inputs . kernel + bias.

    All leading axes are folded into one, so that the product is a single large MatMul, into
    which TensorFlow fuses the bias, and not a batch of small ones.

    Args:
      inputs: [..., D] floats of known rank.
      kernel: [D, E] floats.
      bias: [E] floats, or None.

    Returns:
      [..., E] floats.
    """
    inputs = tf.convert_to_tensor(inputs)
    is_matrix = inputs.shape.rank == 2
    rows = inputs if is_matrix else tf.reshape(inputs, [-1, kernel.shape[0]])
    outputs = tf.matmul(rows, kernel)
    if bias is not None:
        outputs = tf.nn.bias_add(outputs, bias)
    if is_matrix:
        return outputs
    return reshape(outputs, [*sizes(inputs)[:-1], kernel.shape[1]])
