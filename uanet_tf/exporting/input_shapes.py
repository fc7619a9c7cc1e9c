"""Inputs of a signature that have as many dimensions as it says."""

from collections.abc import Sequence

import tensorflow as tf


def with_declared_shapes(
    specs: Sequence[tf.TensorSpec], *inputs: tf.Tensor
) -> tuple[tf.Tensor, ...]:
    """The inputs, checked where the graph runs: a server feeds whatever a client sends.

    Unchecked, one without its first dimension fails somewhere, with a message about something else,
    and texts [B, N] for [B] would be tagged as B times N of them.

    Raises:
      InvalidArgumentError: in the graph; names the input, its shape and the one expected.
    """
    return tuple(
        tf.ensure_shape(values, spec.shape, name=f"{spec.name}_of_declared_shape")
        for spec, values in zip(specs, inputs, strict=True)
    )
