"""Axes in another order."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.ops.shapes import reshape, sizes
from uanet_tf.ops.tracing_choice import wants_blocks


def permute(inputs: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    """Returns what ``tf.transpose`` does.

    TensorFlow gives transpositions of floats to oneDNN, which shares out the smallest among
    threads. For one sentence the operation behind `tf.einsum` takes less time (docs/speed.md);
    large ones take as long.

    Args:
      inputs: floats of known rank.
      axes: the axis of ``inputs`` that each axis of the result is.
    """
    if wants_blocks():  # TensorFlow Lite has no such operation
        sized = [axis for axis in axes if inputs.shape[axis] != 1]
        if sized == sorted(sized) and list(inputs.shape).count(None) <= 1:
            # No number has to move, and the shape is known.
            return reshape(inputs, [sizes(inputs)[axis] for axis in axes])
        return tf.transpose(inputs, axes)
    names = "abcdefgh"[: len(axes)]
    to = "".join(names[axis] for axis in axes)
    return tf.raw_ops.Einsum(inputs=[inputs], equation=f"{names}->{to}")
