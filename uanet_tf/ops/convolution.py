"""Convolution over time with gaps between its taps, and its written-out gradient.

The shifted inputs are concatenated, so that it is one large product. TensorFlow's own fails on
empty inputs: with oneDNN, the result of an empty batch has the shape of its input and sentences
without tokens get some, and without oneDNN a ``conv1d`` with gaps has no gradient.
"""

import functools

import tensorflow as tf

from uanet_tf.ops.graphs import with_gradient


def dilated_convolution(inputs: tf.Tensor, kernel: tf.Tensor, dilation: int = 1) -> tf.Tensor:
    """Returns y_t = sum_k x_{t + (k - K // 2) * dilation} kernel_k, with zeros beyond the ends.

    From [B, T, D] floats, zero at padding already, and a kernel [K, D, F], K odd: [B, T, F].

    Reference: Yu and Koltun, 2016, "Multi-Scale Context Aggregation by Dilated Convolutions".
    """
    kernel = tf.convert_to_tensor(kernel)
    taps, width, filters = kernel.shape
    columns = _columns(inputs, taps, dilation)  # [B * T, K * D]
    outputs = tf.matmul(columns, tf.reshape(kernel, [taps * width, filters]))
    shape = tf.shape(inputs)
    outputs = tf.reshape(outputs, [shape[0], shape[1], filters])
    gradient = functools.partial(_backward, dilation)
    return with_gradient(outputs, [inputs, kernel], gradient, [columns])


def _backward(dilation, upstream, inputs, kernel, columns):
    """Gradients of ``inputs`` and ``kernel``."""
    taps, width, filters = kernel.shape
    # Seen from an input the taps lie in reverse order.
    back = tf.transpose(tf.reverse(kernel, [0]), [0, 2, 1])  # [K, F, D]
    back = tf.reshape(back, [taps * filters, width])
    d_inputs = tf.matmul(_columns(upstream, taps, dilation), back)  # [B * T, D]
    rows = tf.reshape(upstream, [-1, filters])
    d_kernel = tf.matmul(columns, rows, transpose_a=True)  # [K * D, F]
    return tf.reshape(d_inputs, tf.shape(inputs)), tf.reshape(d_kernel, kernel.shape)


def _columns(inputs: tf.Tensor, taps: int, dilation: int) -> tf.Tensor:
    """[B * T, K * D]: the inputs of all taps at each position."""
    length, reach = tf.shape(inputs)[1], taps // 2 * dilation
    padded = tf.pad(inputs, [[0, 0], [reach, reach], [0, 0]])
    shifted = [padded[:, tap * dilation : tap * dilation + length] for tap in range(taps)]
    return tf.reshape(tf.concat(shifted, axis=-1), [-1, taps * inputs.shape[-1]])
