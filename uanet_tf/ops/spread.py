"""From vectors of distinct tokens to vectors of tokens."""

import tensorflow as tf

from uanet_tf.ops.shapes import reshape, sizes
from uanet_tf.ops.tracing_choice import unpadded


def spread(vectors: tf.Tensor, index: tf.Tensor) -> tf.Tensor:
    """Returns the vector of each token, [B, T, D].

    Args:
      vectors: [U, D], of distinct tokens; within ``unpadded``, of a sentence's tokens in order.
      index: [B, T] int32, the row of each token.
    """
    if unpadded.holds():
        return reshape(vectors, [1, *sizes(vectors)])
    return tf.gather(vectors, index)
