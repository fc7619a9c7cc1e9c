"""Mixed precision in our own loops: narrow floats for products, wide ones for sums."""

import tensorflow as tf


def wide_dtype(dtype: tf.DType) -> tf.DType:
    """The dtype in which values of ``dtype`` are added up: float32 for 16 bits, else the same."""
    return tf.float32 if dtype.size < 4 else dtype


def widen(values: tf.Tensor) -> tf.Tensor:
    """Values in their ``wide_dtype``."""
    values = tf.convert_to_tensor(values)
    return tf.cast(values, wide_dtype(values.dtype))


def masked(states: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
    """Wide states under a mask, which may be narrow; None: all of them."""
    return states if mask is None else states * widen(mask)


def product(values: tf.Tensor, kernel: tf.Tensor, *, transpose: bool = False) -> tf.Tensor:
    """The product values . kernel (or its transpose), in the kernel's dtype, given in the wide one.

    Args:
      values: [..., D] floats.
      kernel: [D, E] floats, or [E, D] with ``transpose``.
    """
    return widen(tf.matmul(tf.cast(values, kernel.dtype), kernel, transpose_b=transpose))
