"""Bidirectional LSTMs as one operation of a GPU, under masks that are the same for all rows.

A mask on the previous state that all rows share is one on the kernel's rows,
(h * z) U = h (diag(z) U), and so is one on the inputs: each sample of a network is an ordinary LSTM
with kernels of its own. cuDNN runs it without a loop in the graph.
"""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.ops.recurrence import keras_order


def packed_weights(
    ways: Sequence[Sequence[tf.Tensor]],
    input_masks: tf.Tensor | None,
    recurrent_masks: Sequence[tf.Tensor | None],
    samples: int,
) -> tf.Tensor:
    """The weights of J sampled networks in cuDNN's order, [J, P].

    Args:
      ways: forward and backward, of each the kernel [D, 4H], the recurrent kernel [H, 4H] and the
        bias [4H]; gates in the order i, f, o, g.
      input_masks: [J, D] on the inputs; None: nothing is dropped.
      recurrent_masks: of each way [J, H], on the previous states, or None.
      samples: J.
    """
    matrices, biases = [], []
    for (*kernels, bias), recurrent in zip(ways, recurrent_masks, strict=True):
        for kernel, mask in zip(kernels, (input_masks, recurrent), strict=True):
            kernel = tf.expand_dims(keras_order(kernel), 0)  # [1, D, 4H]
            if mask is not None:
                kernel *= tf.expand_dims(mask, -1)  # [J, D, 4H]
            # Each gate's matrix is transposed: [J, 4H, D].
            size = kernel.shape[1] * kernel.shape[2]
            flat = tf.reshape(tf.transpose(kernel, [0, 2, 1]), [-1, size])
            matrices.append(tf.broadcast_to(flat, [samples, size]))
        # A bias of the inputs, and one of the states.
        bias = tf.concat([keras_order(bias), tf.zeros_like(bias)], axis=0)
        biases.append(tf.tile(tf.expand_dims(bias, 0), [samples, 1]))
    return tf.concat([*matrices, *biases], axis=1)


def bidirectional_lstm(
    inputs: tf.Tensor, lengths: tf.Tensor, weights: tf.Tensor, units: int
) -> tf.Tensor:
    """Runs both directions of an LSTM of H ``units`` on a GPU: [T, N, 2H] states, 0 at padding.

    Args:
      inputs: [T, N, D] float32, right-padded.
      lengths: [N] int32, at least 1.
      weights: [P], see ``packed_weights``.
    """
    zeros = tf.zeros([2, tf.shape(inputs)[1], units])
    return tf.raw_ops.CudnnRNNV3(
        input=inputs,
        input_h=zeros,
        input_c=zeros,
        params=weights,
        sequence_lengths=lengths,
        rnn_mode="lstm",
        direction="bidirectional",
        is_training=False,
        time_major=True,
    ).output
