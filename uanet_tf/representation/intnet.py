"""Characters of a word to a vector: IntNet, wide convolutions with dense connections."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, check_positive
from uanet_tf.errors import InputError
from uanet_tf.representation.char_layer import CharLayer


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class IntNet(CharLayer):
    """A funnel of convolutions of several widths, densely connected, without down-sampling.

    The first layer convolves the character vectors with each kernel size. Then a block of two
    layers is repeated: a bottleneck of width 1 over all feature maps so far, and convolutions of
    each kernel size over it, whose maps are added to those so far. ReLU follows every
    convolution; the maximum over the word's characters of all maps is the output.

    Args (further ones: ``CharLayer``):
      num_layers: number of convolutional layers; odd: the first and two per block.
      kernel_sizes: widths of the parallel convolutions, characters.
      initial_filters: filters of each kernel size in the first layer.
      filters: filters of each bottleneck, and of each kernel size in a block.

    Output shape: [U, len(kernel_sizes) (initial_filters + filters (num_layers - 1) / 2)], zeros for
      a word without characters.

    Example:
    >>> IntNet(80)(tf.constant([[5, 9, 3, 0]])).shape
    TensorShape([1, 160])

    Reference: Xin et al., EMNLP 2018, "Learning Better Internal Structure of Words for Sequence
      Labeling".
    """

    def __init__(
        self,
        num_chars: int,
        *,
        char_width: int = 32,
        num_layers: int = 7,
        kernel_sizes: Sequence[int] = (3, 5),
        initial_filters: int = 32,
        filters: int = 16,
        **kwargs,
    ):
        super().__init__(num_chars, char_width=char_width, **kwargs)
        if isinstance(num_layers, bool) or num_layers < 1 or num_layers % 2 != 1:
            raise ArgumentError(
                f"`num_layers` must be odd and positive. Received: num_layers={num_layers}"
            )
        sizes = tuple(kernel_sizes)
        if not sizes or min(sizes) < 1 or len(set(sizes)) < len(sizes):
            raise ArgumentError(
                "`kernel_sizes` must be positive and distinct. "
                f"Received: kernel_sizes={list(kernel_sizes)}"
            )
        self.num_layers = num_layers
        self.kernel_sizes = sizes
        self.initial_filters = check_positive("initial_filters", initial_filters)
        self.filters = check_positive("filters", filters)

    @classmethod
    def check_settings(cls, config):
        layers = config.representation.intnet_layers
        if layers % 2 == 0:
            raise InputError(
                f"`intnet_layers` must be odd: one, and two per block. Received: {layers}"
            )

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        layers = config.representation.intnet_layers
        return super().from_settings(config, vocabulary, num_layers=layers, **kwargs)

    @property
    def output_width(self) -> int:
        blocks = self.num_layers // 2
        return len(self.kernel_sizes) * (self.initial_filters + blocks * self.filters)

    def build(self, input_shape):
        super().build(input_shape)
        self.kernels, self.biases = {}, {}
        for size in self.kernel_sizes:
            self._add(f"initial_{size}", size, self.char_width, self.initial_filters)
        maps = len(self.kernel_sizes) * self.initial_filters
        for block in range(self.num_layers // 2):
            self._add(f"bottleneck_{block}", 1, maps, self.filters)
            for size in self.kernel_sizes:
                self._add(f"block_{block}_{size}", size, self.filters, self.filters)
            maps += len(self.kernel_sizes) * self.filters

    def _add(self, name, size, width, filters):
        shape = [size, width, filters]
        kernel = self.add_weight(f"kernel_{name}", shape, initializer="glorot_uniform")
        bias = self.add_weight(f"bias_{name}", [filters], initializer="zeros")
        self.kernels[name], self.biases[name] = kernel, bias

    def call(self, char_ids: tf.Tensor) -> tf.Tensor:
        vectors, real = self.embed(char_ids)  # [U, W, char_width], [U, W]
        real = tf.expand_dims(real, -1)
        maps = [self._convolve(vectors, real, f"initial_{size}") for size in self.kernel_sizes]
        for block in range(self.num_layers // 2):
            narrow = self._convolve(tf.concat(maps, axis=-1), real, f"bottleneck_{block}")
            maps += [
                self._convolve(narrow, real, f"block_{block}_{size}") for size in self.kernel_sizes
            ]
        # No map is below 0, so the zeros of padding cannot exceed a character's value.
        return tf.reduce_max(tf.concat(maps, axis=-1), axis=1)  # [U, output_width]

    def _convolve(self, inputs, real, name):
        """ReLU of a convolution [U, W, filters]; zeros at padding, for the next one."""
        outputs = tf.nn.conv1d(inputs, self.kernels[name], stride=1, padding="SAME")
        outputs = tf.nn.relu(tf.nn.bias_add(outputs, self.biases[name]))
        return tf.where(real, outputs, tf.zeros([], outputs.dtype))
