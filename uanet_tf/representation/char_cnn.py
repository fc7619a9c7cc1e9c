"""Characters of a word to a vector: convolution and maximum over time."""

import tensorflow as tf

from uanet_tf.arguments import check_positive
from uanet_tf.representation.char_layer import CharLayer


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharCNN(CharLayer):
    """Character embedding, one convolution, maximum over the word's characters.

    Args:
      num_chars: number of character ids, padding (0) and unknown (1) included.
      char_width: width of character vectors.
      filters: number of filters, the width of the output.
      kernel_size: characters that a filter sees.

    Call arguments:
      char_ids: [U, W] int32, one word per row, 0 at padding.

    Output shape:
      [U, filters].

    Example:

    >>> CharCNN(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference:
      Ma and Hovy, 2016 (section 2.1); 50 filters of width 3: the released code of Gui et al., 2020.
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
        super().__init__(num_chars, char_width=char_width, **kwargs)
        self.filters = check_positive("filters", filters)
        self.kernel_size = check_positive("kernel_size", kernel_size)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.representation
        return super().from_settings(
            config,
            vocabulary,
            filters=part.char_filters,
            kernel_size=part.char_kernel,
            **kwargs,
        )

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        return self.filters

    def build(self, input_shape):
        super().build(input_shape)
        self.kernel = self.add_weight(
            name="kernel",
            shape=[self.kernel_size, self.char_width, self.filters],
            initializer="glorot_uniform",
        )
        self.bias = self.add_weight(name="bias", shape=[self.filters], initializer="zeros")

    def call(self, char_ids: tf.Tensor) -> tf.Tensor:
        vectors, real = self.embed(char_ids)  # [U, W, char_width], [U, W]
        features = tf.nn.conv1d(vectors, self.kernel, stride=1, padding="SAME")
        features = tf.where(tf.expand_dims(real, -1), features, features.dtype.min)
        pooled = tf.reduce_max(features, axis=1)  # [U, filters]
        # A word without characters (all padding) gets only the bias.
        some = tf.reduce_any(real, axis=1, keepdims=True)
        return tf.where(some, pooled, tf.zeros([], pooled.dtype)) + self.bias

    def get_config(self):
        config = super().get_config()
        config.update(filters=self.filters, kernel_size=self.kernel_size)
        return config
