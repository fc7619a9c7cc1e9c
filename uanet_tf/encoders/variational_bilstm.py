"""The variational BiLSTM: dropout masks tied over time, on input and recurrence."""

import tensorflow as tf

from uanet_tf.encoders.encoder import Encoder, apply_mask
from uanet_tf.ops.initializers import block_orthogonal
from uanet_tf.ops.lstm import PADDING_SHIFT, lstm_scan

DIRECTIONS = ("forward", "backward")


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class VariationalBiLSTM(Encoder):
    """Stacked bidirectional LSTM with one input mask and one recurrent mask a direction.

    Both masks are the same at every time step and for all four gates. Without masks it is
    an ordinary BiLSTM.

    Args:
      hidden_width: width of the output, both directions together; even.
      num_layers: number of stacked layers.
      input_dropout: rate r of z_x, the mask on the input of each layer.
      recurrent_dropout: rate of z_h, the mask on the previous hidden state.
      output_dropout: rate of the mask on the output of the last layer.

    Call arguments:
      inputs: [N, T, D].
      mask: [N, T] boolean, True at tokens, right-padded; None: all are tokens.
      dropout_masks: what ``draw_masks`` gives, with N rows; None: nothing is dropped.

    Output shape:
      [N, T, hidden_width], zeros at padding.

    Example:

    >>> encoder = VariationalBiLSTM(8)
    >>> masks = encoder.draw_masks(tf.constant([1, 2]), 3, input_width=5)
    >>> encoder(tf.ones([3, 4, 5]), dropout_masks=masks).shape
    TensorShape([3, 4, 8])

    Reference:
      Gal and Ghahramani, 2016; Gui et al., 2020, Eq. 3.
    """

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 1,
        input_dropout: float = 0.25,
        recurrent_dropout: float = 0.25,
        output_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if hidden_width < 2 or hidden_width % 2:
            raise ValueError(
                f"`hidden_width` must be even and positive. Received: hidden_width={hidden_width}"
            )
        if num_layers < 1:
            raise ValueError(f"`num_layers` must be positive. Received: num_layers={num_layers}")
        for name, rate in (
            ("input_dropout", input_dropout),
            ("recurrent_dropout", recurrent_dropout),
            ("output_dropout", output_dropout),
        ):
            if not 0 <= rate < 1:
                raise ValueError(f"`{name}` must be in [0, 1). Received: {name}={rate}")
        self.hidden_width = hidden_width
        self.num_layers = num_layers
        self.input_dropout = input_dropout
        self.recurrent_dropout = recurrent_dropout
        self.output_dropout = output_dropout

    def mask_widths(self, input_width):
        units = self.hidden_width // 2
        widths = {}
        for layer in range(self.num_layers):
            width = input_width if layer == 0 else self.hidden_width
            widths[f"input_{layer}"] = (width, self.input_dropout)
            for direction in DIRECTIONS:
                widths[f"recurrent_{layer}_{direction}"] = (units, self.recurrent_dropout)
        widths["output"] = (self.hidden_width, self.output_dropout)
        return widths

    def build(self, input_shape):
        units = self.hidden_width // 2
        width = input_shape[-1]
        self.kernels, self.recurrent_kernels, self.biases = {}, {}, {}
        for layer in range(self.num_layers):
            for direction in DIRECTIONS:
                name = f"{layer}_{direction}"
                self.kernels[name] = self.add_weight(
                    name=f"kernel_{name}", shape=[width, 4 * units], initializer="glorot_uniform"
                )
                self.recurrent_kernels[name] = self.add_weight(
                    name=f"recurrent_kernel_{name}",
                    shape=[units, 4 * units],
                    initializer=block_orthogonal,
                )
                self.biases[name] = self.add_weight(
                    name=f"bias_{name}", shape=[4 * units], initializer=_forget_one
                )
            width = self.hidden_width
        super().build(input_shape)

    def call(self, inputs, mask=None, dropout_masks=None):
        states = tf.transpose(inputs, [1, 0, 2])  # [T, N, D]
        shift = None if mask is None else self._padding_shift(mask, states.dtype)
        masks = dropout_masks or {}
        for layer in range(self.num_layers):
            if f"input_{layer}" in masks:
                states = states * masks[f"input_{layer}"]  # z_x, at every t
            states = tf.concat(
                [self._scan(states, shift, masks, layer, way) for way in DIRECTIONS], axis=-1
            )  # [T, N, hidden_width]
        states = tf.transpose(states, [1, 0, 2])  # [N, T, hidden_width]
        return apply_mask(states, dropout_masks, "output")

    def _scan(self, states, shift, masks, layer, direction):
        name = f"{layer}_{direction}"
        projected = tf.matmul(states, self.kernels[name]) + self.biases[name]  # [T, N, 4H]
        if shift is not None:
            projected += shift
        return lstm_scan(
            projected,
            tf.convert_to_tensor(self.recurrent_kernels[name]),
            masks.get(f"recurrent_{name}"),
            reverse=direction == "backward",
        )

    def _padding_shift(self, mask, dtype):
        """[T, N, 4H] closing the input and forget gates at padding; states stay 0 there."""
        units = self.hidden_width // 2
        closed = tf.constant([PADDING_SHIFT] * (2 * units) + [0.0] * (2 * units), dtype)
        padding = tf.cast(tf.logical_not(tf.transpose(mask)), dtype)  # [T, N]
        return tf.expand_dims(padding, -1) * closed

    def compute_output_shape(self, input_shape):
        return [*input_shape[:-1], self.hidden_width]

    def get_config(self):
        config = super().get_config()
        config.update(
            hidden_width=self.hidden_width,
            num_layers=self.num_layers,
            input_dropout=self.input_dropout,
            recurrent_dropout=self.recurrent_dropout,
            output_dropout=self.output_dropout,
        )
        return config


def _forget_one(shape, dtype=None, **_):
    """Zeros, and ones for the forget gate (Jozefowicz et al., 2015)."""
    units = shape[0] // 4
    zeros, ones = tf.zeros([units], dtype), tf.ones([units], dtype)
    return tf.concat([zeros, ones, zeros, zeros], axis=0)
