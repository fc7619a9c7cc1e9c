"""A recurrent encoder whose dropout masks are tied over time."""

import tensorflow as tf

from uanet_tf.arguments import check_rate
from uanet_tf.encoders.encoder import apply_mask
from uanet_tf.encoders.recurrent_encoder import RecurrentEncoder
from uanet_tf.layers.bidirectional import DIRECTIONS
from uanet_tf.ops.shapes import reshape, sizes


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class VariationalEncoder(RecurrentEncoder):
    """Base of recurrent encoders with one input mask and one recurrent mask per direction.

    Both masks are the same at every time step and for all gates. Without masks nothing is dropped.

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
      index: see ``Encoder``.

    Output shape:
      [N, T, hidden_width] (or projection_width), zeros at padding.

    Reference:
      Gal and Ghahramani, 2016, "A Theoretically Grounded Application of Dropout in Recurrent
      Neural Networks".
    """

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
        super().__init__(
            hidden_width, num_layers=num_layers, projection_width=projection_width, **kwargs
        )
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.recurrent_dropout = check_rate("recurrent_dropout", recurrent_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)

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

    def call(self, inputs, mask=None, dropout_masks=None, index=None):
        masks = dropout_masks or {}
        if index is None:
            states = self.recur(inputs, mask, masks)
            return self.project(apply_mask(states, masks, "output"), mask)
        states, given = self.recur_forms(inputs, index, mask, masks)  # [J * B, T, hidden_width]
        states = self.project(apply_mask(states, given.masks, "output"), given.mask)
        return reshape(states, [given.samples, *sizes(index), states.shape[-1]])

    def get_config(self):
        config = super().get_config()
        config.update(
            input_dropout=self.input_dropout,
            recurrent_dropout=self.recurrent_dropout,
            output_dropout=self.output_dropout,
        )
        return config
