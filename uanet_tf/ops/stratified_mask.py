"""Dropout masks of M samples that drop each unit equally often."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.ops.philox import philox_uniform


def stratified_mask(
    shape: Sequence[int], rate: float, seed: tf.Tensor, dtype: tf.DType = tf.float32
) -> tf.Tensor:
    """Draws M rows of an inverted-dropout mask: 0 with probability ``rate``, else 1 / (1 - rate).

    Each row is one of independent units, as in `keep_mask`. Over the rows a unit is 0 in ``rate`` *
    M of them, rounded up or down: its M numbers, of which those below ``rate`` are dropped, lie one
    in each of M equal parts of [0, 1) (Latin hypercube sampling). So what a unit by itself adds to
    the mean of M samples is the same in each draw, or nearly, and the mean comes nearer to that of
    many samples (docs/uncertainty.md).

    Args:
      shape: [M, width].
      rate: probability of a zero, in [0, 1).
      seed: [2] int32 tensor.
      dtype: dtype of the mask.

    Returns:
      [M, width].

    Reference:
      McKay, Beckman and Conover, 1979, "A Comparison of Three Methods for Selecting Values of Input
      Variables in the Analysis of Output from a Computer Code".
    """
    order, place = tf.unstack(philox_uniform([2, *shape], seed))
    part = tf.cast(tf.argsort(order, axis=0), tf.float32)  # a permutation of 0 to M - 1
    kept = (part + place) / shape[0] >= rate
    return tf.cast(kept, dtype) / tf.cast(1.0 - rate, dtype)
