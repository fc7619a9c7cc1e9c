"""The variational BiLSTM: dropout masks tied over time, on input and recurrence."""

import tensorflow as tf

from uanet_tf.arguments import check_even, check_positive, check_rate
from uanet_tf.encoders.encoder import Encoder, Masks, apply_mask, zero_padding
from uanet_tf.ops.cells import LSTM
from uanet_tf.ops.linear import linear
from uanet_tf.recurrent.bidirectional import DIRECTIONS, Bidirectional


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
      projection_width: width of a narrow layer behind it, tanh(W h + b); None: there is none.

    Call arguments:
      inputs: [N, T, D].
      mask: [N, T] boolean, True at tokens, right-padded; None: all are tokens.
      dropout_masks: what ``draw_masks`` gives, with N rows; None: nothing is dropped.

    Output shape:
      [N, T, hidden_width] (or projection_width), zeros at padding.

    Example:

    >>> encoder = VariationalBiLSTM(8)
    >>> masks = encoder.draw_masks(tf.constant([1, 2]), 3, input_width=5)
    >>> encoder(tf.ones([3, 4, 5]), dropout_masks=masks).shape
    TensorShape([3, 4, 8])

    Reference:
      Gal and Ghahramani, 2016; Gui et al., 2020, Eq. 3; narrow layer: Rei et al., 2016, section 2.
    """

    cell = LSTM

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 1,
        input_dropout: float = 0.25,
        recurrent_dropout: float = 0.25,
        output_dropout: float = 0.0,
        projection_width: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)
        self.num_layers = check_positive("num_layers", num_layers)
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.recurrent_dropout = check_rate("recurrent_dropout", recurrent_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)
        self.projection_width = check_positive("projection_width", projection_width, optional=True)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.encoder
        return cls(
            part.hidden_width,
            num_layers=part.encoder_layers,
            input_dropout=part.variational_dropout,
            recurrent_dropout=part.recurrent_dropout,
            output_dropout=part.output_dropout,
            projection_width=part.projection_width or None,
            **kwargs,
        )

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
        self.recurrences = []
        for layer in range(self.num_layers):
            names = f"{{weight}}_{layer}_{{way}}"
            self.recurrences.append(Bidirectional(self, self.cell, width, units, names))
            width = self.hidden_width
        if self.projection_width:
            self.projection_kernel = self.add_weight(
                name="projection_kernel",
                shape=[width, self.projection_width],
                initializer="glorot_uniform",
            )
            self.projection_bias = self.add_weight(
                name="projection_bias", shape=[self.projection_width], initializer="zeros"
            )
        super().build(input_shape)

    def call(self, inputs, mask=None, dropout_masks=None):
        states = self.recur(inputs, mask, dropout_masks or {})
        return self.project(apply_mask(states, dropout_masks, "output"), mask)

    def recur(self, inputs: tf.Tensor, mask: tf.Tensor | None, masks: Masks) -> tf.Tensor:
        """Returns the states [N, T, hidden_width] of the last layer, under ``masks``."""
        states = tf.transpose(inputs, [1, 0, 2])  # [T, N, D]
        times = None if mask is None else tf.transpose(mask)  # [T, N]
        for layer, recurrence in enumerate(self.recurrences):
            if f"input_{layer}" in masks:
                states = states * masks[f"input_{layer}"]  # z_x, at every t
            tied = {way: masks.get(f"recurrent_{layer}_{way}") for way in DIRECTIONS}  # z_h
            states = tf.concat(recurrence(states, times, tied), axis=-1)  # [T, N, hidden_width]
        return tf.transpose(states, [1, 0, 2])

    def project(self, states: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
        """Returns what the narrow layer makes of the states; without one, the states."""
        if not self.projection_width:
            return states
        narrow = linear(states, self.projection_kernel, self.projection_bias)
        return zero_padding(tf.tanh(narrow), mask)  # [N, T, projection_width]

    def compute_output_shape(self, input_shape):
        return [*input_shape[:-1], self.projection_width or self.hidden_width]

    def get_config(self):
        config = super().get_config()
        config.update(
            hidden_width=self.hidden_width,
            num_layers=self.num_layers,
            input_dropout=self.input_dropout,
            recurrent_dropout=self.recurrent_dropout,
            output_dropout=self.output_dropout,
            projection_width=self.projection_width,
        )
        return config
