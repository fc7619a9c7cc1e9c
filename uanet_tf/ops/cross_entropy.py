"""Cross entropy over the tokens of a padded batch."""

import tensorflow as tf

from uanet_tf.ops.precision import widen


def masked_cross_entropy(logits: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Sum over tokens of -log softmax(logits)[label], in nats.

    Args:
      logits: [B, T, C].
      labels: [B, T] int32; any value in [0, C) at padding.
      mask: [B, T] boolean, True at tokens.

    Returns:
      A scalar; padding contributes neither value nor gradient.
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=widen(logits)
    )  # [B, T]
    return tf.reduce_sum(tf.where(mask, losses, 0.0))
