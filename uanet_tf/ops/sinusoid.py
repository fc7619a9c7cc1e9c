"""Sinusoids of signed relative distances."""

import tensorflow as tf


def sinusoid(distances: tf.Tensor, width: int, dtype=tf.float32) -> tf.Tensor:
    """Returns R_d for each distance d: sines in the first half, cosines in the second.

    Frequency k is 10000^(-2k/width). The sines change sign with the distance, the cosines
    do not, so that left and right stay distinguishable. An odd width has one sine more.

    Args:
      distances: [N] numbers, signed.
      width: number of features, at least 1.
      dtype: dtype of the result; the angles are computed in float32 at least.

    Returns:
      [N, width] floats.

    Reference:
      Vaswani et al., 2017, "Attention Is All You Need", section 3.5; signed as in
      Yan et al., 2019, "TENER: Adapting Transformer Encoder for Named Entity Recognition".
    """
    sines = (width + 1) // 2
    frequencies = [10000.0 ** (-2.0 * k / width) for k in range(sines)]
    angles = tf.expand_dims(tf.cast(distances, tf.float32), 1) * tf.constant(frequencies)
    features = [tf.sin(angles), tf.cos(angles[:, : width - sines])]
    return tf.cast(tf.concat(features, axis=1), dtype)  # [N, width]


def relative_sinusoid(length: int | tf.Tensor, width: int, dtype=tf.float32) -> tf.Tensor:
    """Returns R for all distances of a sentence, in the order `relative_shift` reads.

    Row c holds distance length - 1 - c, from length - 1 down to -length. The last row is
    never read: with it the shift needs no padding.

    Args:
      length: T, an integer or a scalar tensor.
      width: number of features.
      dtype: dtype of the result.

    Returns:
      [2 * length, width] floats.
    """
    ascending = tf.range(length)
    return sinusoid(tf.concat([ascending[::-1], -1 - ascending], axis=0), width, dtype)
