"""Shapes with as few of their numbers computed in the graph as can be."""

from collections.abc import Sequence

import tensorflow as tf


def sizes(inputs: tf.Tensor) -> list[int | tf.Tensor]:
    """The size of each axis: a number where it is known beforehand, else a scalar tensor."""
    shape = tf.shape(inputs)
    return [shape[axis] if size is None else size for axis, size in enumerate(inputs.shape)]


def reshape(inputs: tf.Tensor, shape: Sequence[int | tf.Tensor]) -> tf.Tensor:
    """``tf.reshape`` to sizes of which one may be computed without being known to the graph.

    It becomes -1, where the others leave no doubt of it, so that the shape is a constant.
    TensorFlow Lite plans its memory before it runs a graph, and again after each operation whose
    shape is computed.
    """
    computed = [axis for axis, size in enumerate(shape) if tf.is_tensor(size)]
    if len(computed) == 1 and 0 not in [size for size in shape if not tf.is_tensor(size)]:
        shape = [-1 if tf.is_tensor(size) else size for size in shape]
    return tf.reshape(inputs, shape)
