"""Layer normalisation over the last axis."""

import tensorflow as tf

from uanet_tf.ops.precision import widen


def layer_norm(
    inputs: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, epsilon: float = 1e-6
) -> tf.Tensor:
    """Returns (x - mean) / sqrt(variance + epsilon) * scale + offset.

    Mean and variance are computed in float32 at least, even where the inputs have half precision.

    Args:
      inputs: [..., D] floats.
      scale: [D] floats.
      offset: [D] floats.
      epsilon: keeps a constant row finite.

    Reference:
      Ba et al., 2016, "Layer Normalization".
    """
    values = widen(inputs)
    centred = values - tf.reduce_mean(values, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    normal = centred * tf.math.rsqrt(variance + epsilon)
    return tf.cast(normal, inputs.dtype) * scale + offset
