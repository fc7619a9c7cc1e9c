"""From scores by distance to scores by key position."""

import tensorflow as tf


def relative_shift(scores: tf.Tensor) -> tf.Tensor:
    """Returns element (r, j) = the score of query r of Q consecutive queries for key j.

    The queries have the positions i = first + r. Column c of ``scores`` belongs to distance
    first + Q - 1 - c, so the score of element (r, j), distance first + r - j, is at column
    Q - 1 - r + j: each row starts one column further left than the row above. Read as one line of
    numbers, rows of Q + T starting Q - 1 - r columns in are rows of Q + T - 1 that all start Q - 1
    numbers in; so two slices do it, without any index tensor.

    Args:
      scores: [N, B, Q, Q + T] floats: distances first + Q - 1 down to first - T (the last is not
        read). With all T queries these are T - 1 down to -T.

    Returns:
      [N, B, Q, T] floats.

    Reference:
      Dai et al., 2019, "Transformer-XL: Attentive Language Models beyond a Fixed-Length
      Context", appendix B, here for both directions.
    """
    shape = tf.shape(scores)
    outer, batch, count, columns = shape[0], shape[1], shape[2], shape[3]
    line = tf.reshape(scores, [outer, batch, count * columns])
    # Not by indices, whose gradient takes ten times as long as that of `tf.slice`.
    line = tf.slice(line, [0, 0, count - 1], [outer, batch, count * (columns - 1)])
    rows = tf.reshape(line, [outer, batch, count, columns - 1])
    return tf.slice(rows, [0, 0, 0, 0], [outer, batch, count, columns - count])  # [N, B, Q, T]
