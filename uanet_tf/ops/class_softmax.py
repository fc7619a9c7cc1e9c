"""Probabilities of classes."""

import tensorflow as tf

from uanet_tf.ops.tracing_choice import wants_blocks


def class_softmax(logits: tf.Tensor) -> tf.Tensor:
    """Returns what ``tf.nn.softmax`` does, over the last axis.

    For few tokens beside other work: TensorFlow gives its softmax to oneDNN, which shares out the
    smallest among threads. For the classes of one sentence these two operations take less time
    (docs/speed.md), for those of thousands of tokens up to twice as long.

    Args:
      logits: [..., C] floats.
    """
    if wants_blocks():  # TensorFlow Lite shares out nothing
        return tf.nn.softmax(logits)
    return tf.exp(tf.nn.log_softmax(logits))
