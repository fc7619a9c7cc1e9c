"""Characters of a word to a vector: convolution and maximum over time."""

import tensorflow as tf

from uanet_tf.arguments import check_positive
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import filled_size
from uanet_tf.representation.char_layer import CharLayer


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class CharCNN(CharLayer):
    """Character embedding, one convolution, maximum over the word's characters.

    Args (further ones: ``CharLayer``):
      filters: number of filters, the width of the output.
      kernel_size: characters that a filter sees.

    Example:
    >>> CharCNN(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 50])

    Reference: Ma and Hovy, 2016 (section 2.1); 50 filters of width 3: the released code of Gui et
      al., 2020.
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
        filters = config.representation.char_filters
        return super().from_settings(config, vocabulary, filters=filters, **kwargs)

    @property
    def output_width(self) -> int:
        return self.filters

    def build(self, input_shape):
        super().build(input_shape)
        shape = [self.kernel_size, self.char_width, self.filters]
        self.kernel = self.add_weight("kernel", shape, initializer="glorot_uniform")
        self.bias = self.add_weight("bias", [self.filters], initializer="zeros")

    reads_lite = True

    def call(self, char_ids: tf.Tensor, lite: LiteGraph | None = None) -> tf.Tensor:
        real = char_ids > 0
        # A word without characters (all padding) gets only the bias.
        some = tf.reduce_any(real, axis=1, keepdims=True)
        # TensorFlow Lite has no maximum over segments.
        pooled = self._padded(char_ids) if lite else self._unpadded(char_ids, real)
        return tf.where(some, pooled, tf.zeros([], pooled.dtype)) + self.bias

    def _padded(self, char_ids: tf.Tensor) -> tf.Tensor:
        """The maximum over each word's characters [U, filters], words padded to the longest.

        What a character adds at each place of the kernel is a row of a table, which is a constant
        of the graph: gathering takes half the time of the convolution.
        """
        around = self.kernel_size - 1
        before = around // 2
        ids = tf.pad(char_ids, [[0, 0], [before, around - before]])
        features = []
        for place in range(self.kernel_size):
            table = linear(self.embeddings, self.kernel[place])  # [num_chars, filters]
            table = tf.pad(table[1:], [[1, 0], [0, 0]])  # nothing for padding
            windows = char_ids if place == before else ids[:, place : place - around or None]
            features.append(tf.gather(table, windows))  # [U, W, filters]
        # Added and not selected, which the runtime does one element after another. By itself: in a
        # table beside others it would leave nothing of them in 8 bits.
        is_padding = tf.one_hot([0], self.num_chars, axis=0, dtype=self.compute_dtype)
        padding = tf.gather(is_padding * (is_padding.dtype.min / 2), char_ids)  # [U, W, 1]
        return tf.reduce_max(tf.add_n(features) + padding, axis=1)

    def _unpadded(self, char_ids: tf.Tensor, real: tf.Tensor) -> tf.Tensor:
        """The same, computed for characters only: most of [U, W] is padding.

        The convolution is one product of all windows with the kernel. oneDNN makes its kernels for
        each number of rows anew, which takes longer for a convolution than to compute it.
        """
        # A word without characters has one, of padding, so that each word has a window.
        lengths = tf.maximum(tf.reduce_sum(tf.cast(real, tf.int32), axis=1), 1)  # [U]
        before = (self.kernel_size - 1) // 2
        char_ids = tf.pad(char_ids, [[0, 0], [before, self.kernel_size - before]])
        length = tf.shape(char_ids)[1]
        places = tf.where(tf.sequence_mask(lengths, length))  # [N, 2]
        # Further rows, of any numbers, are those of one more word.
        more = filled_size(tf.shape(places)[0]) - tf.shape(places)[0]
        places = tf.pad(tf.cast(places, tf.int32), [[0, more], [0, 0]])
        word = tf.repeat(tf.range(tf.size(lengths) + 1), tf.concat([lengths, [more]], axis=0))
        first = places[:, :1] * length + places[:, 1:]  # [N, 1], of each window
        windows = tf.gather(tf.reshape(char_ids, [-1]), first + tf.range(self.kernel_size))
        width = self.kernel_size * self.char_width
        vectors = tf.reshape(self.embed(windows)[0], [-1, width])
        features = linear(vectors, tf.reshape(self.kernel, [width, self.filters]))
        return tf.math.segment_max(features, word)[: tf.size(lengths)]
