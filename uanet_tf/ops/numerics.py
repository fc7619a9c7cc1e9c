"""Linear maps and layer normalisation, in mixed precision too."""

import math

import tensorflow as tf

from uanet_tf.ops.shapes import reshape, sizes


def wide_dtype(dtype: tf.DType) -> tf.DType:
    """The dtype in which values of ``dtype`` are added up: float32 for 16 bits, else the same."""
    return tf.float32 if dtype.size < 4 else dtype


def widen(values: tf.Tensor) -> tf.Tensor:
    """Values in their ``wide_dtype``."""
    values = tf.convert_to_tensor(values)
    return tf.cast(values, wide_dtype(values.dtype))


def masked(states: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
    """Wide states under a mask, which may be narrow; None: all of them."""
    return states if mask is None else states * widen(mask)


def product(values: tf.Tensor, kernel: tf.Tensor, *, transpose: bool = False) -> tf.Tensor:
    """The product values [..., D] . kernel [D, E], in the kernel's dtype, given in the wide one.

    With ``transpose`` the kernel is [E, D].
    """
    return widen(tf.matmul(tf.cast(values, kernel.dtype), kernel, transpose_b=transpose))


def linear(inputs: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor | None = None) -> tf.Tensor:
    """Returns inputs [..., D], of known rank, . kernel [D, E] + bias [E].

    All leading axes are folded into one, so that the product is a single large MatMul, into which
    TensorFlow fuses the bias, and not a batch of small ones.
    """
    inputs = tf.convert_to_tensor(inputs)
    is_matrix = inputs.shape.rank == 2
    rows = inputs if is_matrix else tf.reshape(inputs, [-1, kernel.shape[0]])
    outputs = tf.matmul(rows, kernel)
    if bias is not None:
        outputs = tf.nn.bias_add(outputs, bias)
    if is_matrix:
        return outputs
    return reshape(outputs, [*sizes(inputs)[:-1], kernel.shape[1]])


def add_linear(
    layer: tf.keras.layers.Layer, name: str, fan_in: int, fan_out: int
) -> tuple[tf.Variable, tf.Variable]:
    """Adds NAME_kernel [D, E], Glorot-uniform, and NAME_bias [E], zeros, to a layer.

    Without a name they are ``kernel`` and ``bias``.
    """
    stem = f"{name}_" if name else ""
    kernel = layer.add_weight(f"{stem}kernel", [fan_in, fan_out], initializer="glorot_uniform")
    return kernel, layer.add_weight(f"{stem}bias", [fan_out], initializer="zeros")


def add_embeddings(layer: tf.keras.layers.Layer, rows: int, width: int) -> tf.Variable:
    """Adds ``embeddings`` [rows, width], uniform with a variance of 1 / width, to a layer."""
    scale = math.sqrt(3.0 / width)
    uniform = tf.keras.initializers.RandomUniform(-scale, scale)
    return layer.add_weight("embeddings", [rows, width], initializer=uniform)


def layer_norm(
    inputs: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor | None, epsilon: float = 1e-6
) -> tf.Tensor:
    """Returns (x - mean) / sqrt(variance + epsilon) * scale + offset of inputs [..., D].

    Mean and variance are computed in float32 at least, even where the inputs have half precision.
    ``epsilon`` keeps a constant row finite.

    Reference: Ba et al., 2016, "Layer Normalization".
    """
    values = widen(inputs)
    centred = values - tf.reduce_mean(values, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    normal = centred * tf.math.rsqrt(variance + epsilon)
    scaled = tf.cast(normal, inputs.dtype) * scale
    return scaled if offset is None else scaled + offset
