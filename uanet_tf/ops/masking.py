"""Boolean token masks: [B, T], True = token, padding on the right."""

import tensorflow as tf


def sequence_mask(lengths: tf.Tensor, max_length: int | tf.Tensor | None = None) -> tf.Tensor:
    """Returns the [B, T] mask of sentences with ``lengths`` [B] tokens.

    T is ``max_length``, or the longest.
    """
    lengths = tf.convert_to_tensor(lengths)
    if max_length is None:
        max_length = tf.reduce_max(lengths)
    positions = tf.range(tf.cast(max_length, lengths.dtype))
    return tf.expand_dims(positions, 0) < tf.expand_dims(lengths, 1)  # [B, T]


def keep(mask: tf.Tensor | None, values: tf.Tensor, otherwise: float | bool = 0) -> tf.Tensor:
    """Returns the values at tokens, and ``otherwise`` at padding.

    The mask has their shape, or one that broadcasts to it. None: there is no padding.
    """
    if mask is None:
        return values
    return tf.where(mask, values, tf.cast(otherwise, values.dtype))


def is_right_padded(mask: tf.Tensor) -> tf.Tensor:
    """Returns a scalar: True where no token of any sentence follows a padding position.

    Left padding and holes give False, an empty sentence is right-padded.
    """
    mask = tf.cast(mask, tf.bool)
    token_after_padding = tf.logical_and(tf.logical_not(mask[:, :-1]), mask[:, 1:])
    return tf.logical_not(tf.reduce_any(token_after_padding))


def key_bias(mask: tf.Tensor, dtype=tf.float32) -> tf.Tensor:
    """Returns what to add to attention scores [.., B, queries, T] to exclude padding keys.

    The number is large but finite: a softmax over only padding stays finite, while with any token a
    padding key gets a weight of exactly 0. The dtype is that of the scores.
    """
    padding = tf.cast(tf.logical_not(tf.cast(mask, tf.bool)), dtype)
    return tf.expand_dims(padding * (tf.as_dtype(dtype).min / 2), 1)  # [B, 1, T]
