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


# From so many on, sizes are rounded up to multiples of so many.
_STEPS = ((1, 8), (256, 32), (2048, 256))


def filled_size(size: tf.Tensor) -> tf.Tensor:
    """A size rounded up by some per cent, to one of few values.

    oneDNN's kernels are made, and kept, for each shape of a product anew. Sizes of any value, such
    as the number of distinct words of a batch, would fill the memory with them: on a long stream
    a process grew from 0.6 to 1.6 GB.

    Args:
      size: an int32 scalar, at least 1.
    """
    step = tf.ones_like(size)
    for least, multiple in _STEPS:
        step = tf.where(size >= least, multiple, step)
    return size + -size % step
