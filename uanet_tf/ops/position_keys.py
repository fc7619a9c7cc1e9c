"""What attention by relative position multiplies queries with."""

import tensorflow as tf

from uanet_tf.ops.sinusoid import relative_sinusoid
from uanet_tf.ops.tracing_choice import position_tables


def position_keys(kernel: tf.Tensor, sinusoids: tf.Tensor, length: int | tf.Tensor) -> tf.Tensor:
    """Returns W_kR R, a column for each distance of a sentence, as ``relative_shift`` reads them.

    Within ``position_tables`` they are rows of a table, which is a constant of a graph with
    constant weights: TensorFlow Lite takes longer for the sinusoids of a sentence than for the
    attention that reads them.

    Args:
      kernel: [W, V] floats, W_kR.
      sinusoids: [2T, W] floats, R; see ``relative_sinusoid``.
      length: T.

    Returns:
      [V, 2T] floats, for distances from T - 1 down to -T.
    """
    longest = position_tables.value()
    if not longest:
        return tf.matmul(kernel, sinusoids, transpose_a=True, transpose_b=True)
    return tf.transpose(tf.gather(_table(kernel, longest), _rows(length, longest)))


def position_heads(
    kernel: tf.Tensor, sinusoids: tf.Tensor, length: int | tf.Tensor, num_heads: int
) -> tf.Tensor:
    """The same as rows of h heads, [h, 2T, V / h]."""
    longest = position_tables.value()
    keys = _table(kernel, longest) if longest else tf.matmul(sinusoids, kernel)  # [.., V]
    heads = tf.reshape(keys, [-1, num_heads, keys.shape[1] // num_heads])
    heads = tf.transpose(heads, [1, 0, 2])
    return tf.gather(heads, _rows(length, longest), axis=1) if longest else heads


def _table(kernel: tf.Tensor, longest: int) -> tf.Tensor:
    """R W_kR for distances from longest - 1 down to -longest, [2 * longest, V]."""
    kernel = tf.convert_to_tensor(kernel)
    return tf.matmul(relative_sinusoid(longest, kernel.shape[0], kernel.dtype), kernel)


def _rows(length: int | tf.Tensor, longest: int) -> tf.Tensor:
    """Which rows of the table are for distances from T - 1 down to -T, [2T]."""
    after = tf.range(length)
    # The middle row is for -1.
    rows = longest + tf.concat([after - length, after], axis=0)
    return tf.clip_by_value(rows, 0, 2 * longest - 1)
