"""What attention by relative position multiplies queries with."""

import tensorflow as tf

from uanet_tf.ops.sinusoid import relative_sinusoid
from uanet_tf.ops.tracing_choice import TracingChoice

# Functions traced within ``position_tables(longest)`` read the keys of sentences of up to so many
# tokens from a table. In longer ones the largest distances count as the largest of the table.
position_tables = TracingChoice("position tables")


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
    kernel = tf.convert_to_tensor(kernel)
    table = tf.matmul(relative_sinusoid(longest, kernel.shape[0], kernel.dtype), kernel)
    ascending = tf.range(length)
    distances = tf.concat([ascending[::-1], -1 - ascending], axis=0)
    rows = longest - 1 - tf.clip_by_value(distances, -longest, longest - 1)
    return tf.transpose(tf.gather(table, rows))
