"""What attention of all tokens reads."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.ops.part_seed import Seed


class ProjectedHeads(NamedTuple):
    """What a stream attends with: h heads of d numbers for each of T tokens.

    Attributes:
      queries, keys, values: [h, B, T, d] floats.
      content_bias, position_bias: [h * d] floats, u and v.
      exclude_self: whether a token gives itself no weight; where it is alone its output is 0.
      dropout: rate at which attention weights are dropped.
      dropout_seed: [2] int32 tensor, or None for no dropout.
    """

    queries: tf.Tensor
    keys: tf.Tensor
    values: tf.Tensor
    content_bias: tf.Tensor
    position_bias: tf.Tensor
    exclude_self: bool = False
    dropout: float = 0.0
    dropout_seed: Seed | None = None
