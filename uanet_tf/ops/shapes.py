"""Shapes, the order of axes, and numbers of rows."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from uanet_tf.arguments import ArgumentError


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


def permute(inputs: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    """Returns what ``tf.transpose`` does.

    TensorFlow gives transpositions of floats to oneDNN, which shares out the smallest among
    threads. For one sentence the operation behind `tf.einsum` takes less time; large ones take as
    long. Where no number has to move it is a change of the shape. The rank must be known.
    """
    sized = [axis for axis in axes if inputs.shape[axis] != 1]
    if sized == sorted(sized) and list(inputs.shape).count(None) <= 1:
        return reshape(inputs, [sizes(inputs)[axis] for axis in axes])
    names = "abcdefgh"[: len(axes)]
    to = "".join(names[axis] for axis in axes)
    return tf.raw_ops.Einsum(inputs=[inputs], equation=f"{names}->{to}")


# Of rows of several tokens: more would be safe too, and cost the refiner a tenth of its time.
_DIVISORS = (4, 8)


def rows_multiple_of(batch: tf.Tensor) -> tf.Tensor:
    """What rows chosen from a batch of B come in multiples of: 8, 4 or 1, as B itself does."""
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
    a process grew from 0.6 to 1.6 GB. The size is an int32 scalar, at least 1.
    """
    step = tf.ones_like(size)
    for least, multiple in _STEPS:
        step = tf.where(size >= least, multiple, step)
    return size + -size % step


def spread(vectors: tf.Tensor, index: tf.Tensor | None) -> tf.Tensor:
    """Returns the vector of each token, [B, T, D], from those of distinct tokens, [U, D].

    The index [B, T] int32 is the row of each token. None: they are the tokens of one sentence.
    """
    if index is None:
        return reshape(vectors, [1, *sizes(vectors)])
    return tf.gather(vectors, index)


def check_shape(
    part: tf.keras.layers.Layer, method: str, found: Any, wanted: Sequence[Any], said: str
) -> None:
    """Raises ArgumentError unless a part returned a tensor of a shape; ``said`` describes it."""
    if not (tf.is_tensor(found) and tf.TensorShape(wanted).is_compatible_with(found.shape)):
        shape = found.shape if tf.is_tensor(found) else type(found).__name__
        raise ArgumentError(
            f"{method}{type(part).__name__} must return {said}: {tf.TensorShape(wanted)}. "
            f"Received: {shape}"
        )
