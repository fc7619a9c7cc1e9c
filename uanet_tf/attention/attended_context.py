"""What query tokens attend to."""

from typing import NamedTuple

import tensorflow as tf


class AttendedContext(NamedTuple):
    """The T tokens of each of B sentences, as keys and values of h heads of d numbers.

    Attributes:
      vectors: [B, T, D] floats, c.
      positions: [h * d, 2T] floats, a column R for each distance from T - 1 down to -T.
      key_kernel, value_kernel: [D, h * d] floats, W_k and W_v of all heads.
      value_bias: [h * d] floats, b_v, or None.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.
    """

    vectors: tf.Tensor
    positions: tf.Tensor
    key_kernel: tf.Tensor
    value_kernel: tf.Tensor
    value_bias: tf.Tensor | None
    mask: tf.Tensor | None
