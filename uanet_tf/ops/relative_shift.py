"""From scores by distance to scores by key position."""

import tensorflow as tf


def relative_shift(scores: tf.Tensor) -> tf.Tensor:
    """Returns element (i, j) = the score of query i for distance i - j.

    Column c of ``scores`` belongs to distance T - 1 - c, so element (i, j) lies at column
    T - 1 - i + j: row i starts one column further left than the row above. Read as one line of
    numbers, rows of 2T starting T - 1 - i columns in are rows of 2T - 1 that all start T - 1
    numbers in; so two slices do it, without any index tensor.

    Args:
      scores: [N, B, T, 2T] floats: distances T - 1 down to -T (the last is not read).

    Returns:
      [N, B, T, T] floats.

    Reference:
      Dai et al., 2019, "Transformer-XL: Attentive Language Models beyond a Fixed-Length
      Context", appendix B, here for both directions.
    """
    shape = tf.shape(scores)
    outer, batch, length = shape[0], shape[1], shape[2]
    line = tf.reshape(scores, [outer, batch, 2 * length * length])
    line = line[:, :, length - 1 : length - 1 + length * (2 * length - 1)]
    rows = tf.reshape(line, [outer, batch, length, 2 * length - 1])
    return rows[:, :, :, :length]  # [N, B, T, T]
