"""Attention in blocks of queries: memory grows with the length, not with its square."""

from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.permute import permute
from uanet_tf.ops.tracing_choice import wants_blocks

# Scores of a block, in numbers: 16 MB of float32, several times which exist at once.
MOST_CELLS = 1 << 22

# (number of the first query, how many queries) -> [B, Q, W]; (0, None): all of them.
Attend = Callable[[int | tf.Tensor, tf.Tensor | None], tf.Tensor]


def in_query_blocks(
    attend: Attend,
    count: tf.Tensor,
    width: int,
    dtype: tf.DType,
    *,
    cells_per_query: tf.Tensor,
    whole: bool = False,
) -> tf.Tensor:
    """Calls ``attend`` for all queries at once, or one block after another where there are many.

    Queries are independent of one another, so the results are the same.

    Args:
      attend: attends with some queries.
      count: Q, a scalar.
      width: W.
      dtype: of what ``attend`` returns.
      cells_per_query: scores that one query of each sentence and head makes: a scalar.
      whole: always all at once, as in training, where a loop would keep each block's results.

    Returns:
      [B, Q, W] floats.
    """
    # TensorFlow Lite copies all that a loop reads at each step.
    if whole or wants_blocks():
        return attend(0, None)
    size = tf.maximum(1, MOST_CELLS // tf.maximum(1, cells_per_query))

    def loop() -> tf.Tensor:
        results = tf.TensorArray(
            dtype, size=-(-count // size), infer_shape=False, element_shape=[None, None, width]
        )
        # One after another: several at once would take the memory of several.
        _, results = tf.while_loop(
            lambda number, _: number * size < count, block, (0, results), parallel_iterations=1
        )
        return permute(results.concat(), [1, 0, 2])  # [B, Q, W]

    def block(number, results):
        result = attend(number * size, tf.minimum(size, count - number * size))  # [B, Q', W]
        return number + 1, results.write(number, permute(result, [1, 0, 2]))

    return tf.cond(count <= size, lambda: attend(0, None), loop)


def queries_of(
    inputs: tf.Tensor, axis: int, first: int | tf.Tensor, count: tf.Tensor | None
) -> tf.Tensor:
    """Those that ``attend`` is asked for, along an axis of queries."""
    if count is None:
        return inputs
    return inputs[(slice(None),) * axis + (slice(first, first + count),)]
