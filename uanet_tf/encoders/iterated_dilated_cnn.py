"""The iterated dilated CNN: one block of dilated convolutions, applied several times."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, check_positive, check_rate
from uanet_tf.encoders.encoder import Encoder, apply_mask, zero_padding
from uanet_tf.ops.convolution import dilated_convolution

TAPS = 3  # width of every filter


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class IteratedDilatedCNN(Encoder):
    """Dilated convolutions of width 3, their block iterated with shared weights.

        h_0 = relu(conv(x));    h_k = block(h_{k-1}),    k = 1 .. num_iterations
        block(h) = relu(conv_dL( .. relu(conv_d1(h))))

    With dilations 1, 2, 4, 1 one iterate sees 8 tokens to either side. The iterates share
    their weights and so their masks: a sample is one network.

    Args:
      filters: number of filters of every convolution, the width of the states.
      dilations: distance between the taps of each convolution of the block.
      score_iterates: in training the states after every iterate are scored, not only the last
        (Eq. 10 of the paper).
      input_dropout: rate of the mask on the input.
      hidden_dropout: rate of the mask on the input of each convolution of the block.
      output_dropout: rate of the mask on the states after each iterate, as they are returned.

    Call arguments (further ones: ``Encoder``):
      all_iterates: return the states after every iterate, [num_iterations, N, T, filters].

    Example:
    >>> encoder = IteratedDilatedCNN(8, num_iterations=2)
    >>> encoder(tf.ones([3, 4, 5])).shape
    TensorShape([3, 4, 8])
    >>> encoder(tf.ones([3, 4, 5]), all_iterates=True).shape
    TensorShape([2, 3, 4, 8])

    Reference: Strubell et al., 2017, "Fast and Accurate Entity Recognition with Iterated Dilated
      Convolutions". As in its released code the first convolution is rectified.
    """

    def __init__(
        self,
        filters: int = 300,
        *,
        dilations: Sequence[int] = (1, 2, 4, 1),
        num_iterations: int = 3,
        score_iterates: bool = True,
        input_dropout: float = 0.25,
        hidden_dropout: float = 0.15,
        output_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.filters = check_positive("filters", filters)
        if not dilations:
            raise ArgumentError(f"`dilations` must not be empty. Received: dilations={dilations}")
        self.dilations = [check_positive("dilations", dilation) for dilation in dilations]
        self.num_iterations = check_positive("num_iterations", num_iterations)
        self.score_iterates = score_iterates
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.hidden_dropout = check_rate("hidden_dropout", hidden_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.encoder
        return cls(
            part.hidden_width,
            num_iterations=part.cnn_iterations,
            score_iterates=part.score_iterates,
            input_dropout=part.variational_dropout,
            hidden_dropout=part.recurrent_dropout,
            output_dropout=part.output_dropout,
            **kwargs,
        )

    def mask_widths(self, input_width):
        hidden = (self.filters, self.hidden_dropout)
        return {
            "input": (input_width, self.input_dropout),
            **{f"hidden_{layer}": hidden for layer in range(len(self.dilations))},
            "output": (self.filters, self.output_dropout),
        }

    def build(self, input_shape):
        width = input_shape[-1]
        self.input_kernel, self.input_bias = self._add_convolution("input", width, "glorot_uniform")
        # As the identity: the block begins by passing its input on.
        self.convolutions = [
            self._add_convolution(f"hidden_{layer}", self.filters, _identity)
            for layer in range(len(self.dilations))
        ]
        super().build(input_shape)

    def _add_convolution(self, name, width, initializer) -> tuple[tf.Variable, tf.Variable]:
        shape = [TAPS, width, self.filters]
        kernel = self.add_weight(f"{name}_kernel", shape, initializer=initializer)
        return kernel, self.add_weight(f"{name}_bias", [self.filters], initializer="zeros")

    def call(self, inputs, mask=None, dropout_masks=None, all_iterates=False):
        states = apply_mask(zero_padding(inputs, mask), dropout_masks, "input")
        states = _convolve(states, self.input_kernel, self.input_bias)
        iterates = []
        for _ in range(self.num_iterations):
            states = self._block(states, mask, dropout_masks)  # [N, T, filters]
            iterates.append(states)
        kept = iterates if all_iterates else iterates[-1:]
        kept = [apply_mask(zero_padding(x, mask), dropout_masks, "output") for x in kept]
        return tf.stack(kept) if all_iterates else kept[0]

    def _block(self, states, mask, masks):
        for layer, dilation in enumerate(self.dilations):
            kernel, bias = self.convolutions[layer]
            # A bias makes padding non-zero, which must not reach the next convolution.
            states = apply_mask(zero_padding(states, mask), masks, f"hidden_{layer}")
            states = _convolve(states, kernel, bias, dilation)
        return states

    def training_states(self, inputs, mask, seed):
        if not self.score_iterates:
            return super().training_states(inputs, mask, seed)
        masks = self.training_masks(inputs, seed)
        return self(inputs, mask=mask, dropout_masks=masks, all_iterates=True)


def _convolve(states, kernel, bias, dilation=1):
    """relu(conv(states) + bias), zeros beyond the ends."""
    return tf.nn.relu(tf.nn.bias_add(dilated_convolution(states, kernel, dilation), bias))


def _identity(shape, dtype=None, **_):
    """Zeros, and the identity at the middle tap."""
    middle = tf.eye(shape[1], shape[2], dtype=tf.as_dtype(dtype or tf.float32))
    return tf.pad(tf.expand_dims(middle, 0), [[shape[0] // 2, shape[0] // 2], [0, 0], [0, 0]])
