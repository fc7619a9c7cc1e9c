"""Rounds numbers of rows up, in graphs; see ``uanet_tf.row_multiple``."""

import tensorflow as tf

# Of rows of several tokens: more would be safe too, and cost the refiner a tenth of its time.
_DIVISORS = (4, 8)


def rows_multiple_of(batch: tf.Tensor) -> tf.Tensor:
    """What rows chosen from a batch come in multiples of: 8, 4 or 1, as the batch itself does.

    Args:
      batch: B, an int32 scalar.
    """
    multiple = tf.ones_like(batch)
    for divisor in _DIVISORS:
        multiple = tf.where(batch % divisor == 0, divisor, multiple)
    return multiple


def fill_rows(rows: tf.Tensor, multiple: int | tf.Tensor) -> tf.Tensor:
    """Numbers of rows [N], and row 0 again until there is a multiple of them."""
    return tf.pad(rows, [[0, -tf.size(rows) % multiple]])
