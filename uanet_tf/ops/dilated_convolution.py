"""Convolution over time with gaps between its taps."""

import tensorflow as tf

from uanet_tf.ops.linear import linear


def dilated_convolution(
    inputs: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor | None = None, dilation: int = 1
) -> tf.Tensor:
    """Returns y_t = sum_k x_{t + (k - K // 2) * dilation} kernel_k + bias, zeros beyond the ends.

    The K shifted inputs stand side by side, so that it is one large product: the CPU kernels of
    TensorFlow's own dilated convolution rearrange the whole batch, and have no gradient.

    Args:
      inputs: [B, T, D] floats; padding must be zero already.
      kernel: [K, D, F] floats, K odd.
      bias: [F] floats, or None.
      dilation: distance between two taps.

    Returns:
      [B, T, F] floats.

    Reference:
      Yu and Koltun, 2016, "Multi-Scale Context Aggregation by Dilated Convolutions".
    """
    taps, width, filters = kernel.shape
    reach = taps // 2 * dilation
    length = tf.shape(inputs)[1]
    padded = tf.pad(inputs, [[0, 0], [reach, reach], [0, 0]])
    shifted = [padded[:, tap * dilation : tap * dilation + length] for tap in range(taps)]
    # [B, T, K * D] . [K * D, F]
    return linear(tf.concat(shifted, axis=-1), tf.reshape(kernel, [taps * width, filters]), bias)
