"""Attention in blocks of queries: memory grows with the length, not with its square."""

from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.time_blocks import wants_blocks

# Scores of a block, in numbers: 16 MB of float32, several times which exist at once.
MOST_CELLS = 1 << 22

# (queries [h, B, Q, d], their positions [B, Q] or None, position of the first) -> [B, Q, W]
Attend = Callable[[tf.Tensor, tf.Tensor | None, int | tf.Tensor], tf.Tensor]


def in_query_blocks(
    attend: Attend,
    queries: tf.Tensor,
    query_positions: tf.Tensor | None,
    *,
    cells_per_query: tf.Tensor,
    whole: bool = False,
) -> tf.Tensor:
    """Calls ``attend`` for all queries at once, or one block after another where there are many.

    Queries are independent of one another, so the results are the same.

    Args:
      attend: attends with some queries.
      queries: [h, B, Q, d].
      query_positions: [B, Q] int32, or None: consecutive, from position 0 on.
      cells_per_query: scores that one query of each sentence and head makes: a scalar.
      whole: always all at once, as in training, where a loop would keep each block's results.

    Returns:
      [B, Q, W] floats.
    """
    # TensorFlow Lite copies all that a loop reads at each step.
    if whole or wants_blocks():
        return attend(queries, query_positions, 0)
    count = tf.shape(queries)[2]
    size = tf.maximum(1, MOST_CELLS // tf.maximum(1, cells_per_query))
    return tf.cond(
        count <= size,
        lambda: attend(queries, query_positions, 0),
        lambda: _loop(attend, queries, query_positions, count, size),
    )


def _loop(
    attend: Attend,
    queries: tf.Tensor,
    query_positions: tf.Tensor | None,
    count: tf.Tensor,
    size: tf.Tensor,
) -> tf.Tensor:
    width = queries.shape[0] * queries.shape[3]
    results = tf.TensorArray(
        queries.dtype,
        size=-(-count // size),
        infer_shape=False,
        element_shape=[None, None, width],
    )

    def block(number, results):
        start = number * size
        end = tf.minimum(start + size, count)
        positions = None if query_positions is None else query_positions[:, start:end]
        result = attend(queries[:, :, start:end], positions, start)  # [B, Q', W]
        return number + 1, results.write(number, tf.transpose(result, [1, 0, 2]))

    # One after another: several at once would take the memory of several.
    _, results = tf.while_loop(
        lambda number, _: number * size < count, block, (0, results), parallel_iterations=1
    )
    return tf.transpose(results.concat(), [1, 0, 2])  # [B, Q, W]
