"""Characters of a word to a vector: convolution and maximum over time."""

import math

import tensorflow as tf


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharCNN(tf.keras.layers.Layer):
    """Character embedding, one convolution, maximum over the word's characters.

    Args:
      num_chars: number of character ids, padding (0) and unknown (1) included.
      char_width: width of character vectors.
      filters: number of filters, the width of the output.
      kernel_size: characters that a filter sees.

    Call arguments:
      char_ids: [U, W] int32, one word a row, 0 at padding.

    Output shape:
      [U, filters].

    Example:

    >>> CharCNN(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference:
      Ma and Hovy, 2016 (section 2.1); Gui et al., 2020 (section 4.2: 50 filters of width 3).
    """

    def __init__(
        self,
        num_chars: int,
        *,
        char_width: int = 30,
        filters: int = 50,
        kernel_size: int = 3,
        **kwargs,
    ):
        super().__init__(**kwargs)
        for name, value in (
            ("num_chars", num_chars),
            ("char_width", char_width),
            ("filters", filters),
            ("kernel_size", kernel_size),
        ):
            if value < 1:
                raise ValueError(f"`{name}` must be positive. Received: {name}={value}")
        self.num_chars = num_chars
        self.char_width = char_width
        self.filters = filters
        self.kernel_size = kernel_size

    def build(self, input_shape):
        scale = math.sqrt(3.0 / self.char_width)
        self.embeddings = self.add_weight(
            name="embeddings",
            shape=[self.num_chars, self.char_width],
            initializer=tf.keras.initializers.RandomUniform(-scale, scale),
        )
        self.kernel = self.add_weight(
            name="kernel",
            shape=[self.kernel_size, self.char_width, self.filters],
            initializer="glorot_uniform",
        )
        self.bias = self.add_weight(name="bias", shape=[self.filters], initializer="zeros")
        super().build(input_shape)

    def call(self, char_ids: tf.Tensor) -> tf.Tensor:
        real = tf.expand_dims(char_ids > 0, -1)  # [U, W, 1]
        vectors = tf.gather(self.embeddings, char_ids)  # [U, W, char_width]
        # The borders of a word see zeros, however far it is padded.
        vectors = tf.where(real, vectors, tf.zeros([], vectors.dtype))
        features = tf.nn.conv1d(vectors, self.kernel, stride=1, padding="SAME")
        features = tf.where(real, features, features.dtype.min)
        pooled = tf.reduce_max(features, axis=1)  # [U, filters]
        # A word without characters (all padding) gets the bias alone.
        empty = tf.reduce_all(tf.logical_not(real), axis=1)
        return tf.where(empty, tf.zeros([], pooled.dtype), pooled) + self.bias

    def compute_output_shape(self, input_shape):
        return [input_shape[0], self.filters]

    def get_config(self):
        config = super().get_config()
        config.update(
            num_chars=self.num_chars,
            char_width=self.char_width,
            filters=self.filters,
            kernel_size=self.kernel_size,
        )
        return config
