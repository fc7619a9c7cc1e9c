"""Regularisation that keeps a network's outputs with and without dropout close."""

import tensorflow as tf

from uanet_tf.ops.precision import widen


def expectation_linear_penalty(
    dropped: tf.Tensor, plain: tf.Tensor, mask: tf.Tensor | None = None
) -> tf.Tensor:
    """Half the squared distance between outputs with and without dropout, summed over tokens.

    In inference a network runs without dropout, or as a mean over samples; this keeps both
    close to the training passes. Both arguments receive gradients.

    Args:
      dropped: [..., B, T, D] floats, states or scores of a pass with dropout.
      plain: [..., B, T, D] floats, the same of the pass without.
      mask: [B, T] booleans, True = token. None: no padding.

    Returns:
      A scalar.

    Reference:
      Ma et al., 2017, "Dropout with Expectation-linear Regularization"; on the scores of each
      iterate in Strubell et al., 2017.
    """
    gap = widen(dropped) - widen(plain)
    distances = tf.reduce_sum(tf.square(gap), axis=-1)  # [..., B, T]
    if mask is not None:
        distances = tf.where(mask, distances, 0.0)
    return 0.5 * tf.reduce_sum(distances)
