"""No encoder: states are the word vectors themselves."""

import tensorflow as tf

from uanet_tf.arguments import check_rate
from uanet_tf.encoders.encoder import Encoder, apply_mask, zero_padding


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class NoEncoder(Encoder):
    """Returns the word vectors, under a dropout mask tied over time.

    For representations that are contextual already, and to measure what context contributes.

    Args:
      output_dropout: rate of the mask.

    Call arguments:
      inputs: [N, T, D].
      mask: [N, T] boolean, True at tokens.
      dropout_masks: what ``draw_masks`` gives, with N rows; None: nothing is dropped.

    Output shape:
      [N, T, D], zeros at padding.
    """

    def __init__(self, *, output_dropout: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.output_dropout = check_rate("output_dropout", output_dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        return cls(output_dropout=config.encoder.output_dropout, **kwargs)

    def mask_widths(self, input_width):
        return {"output": (input_width, self.output_dropout)}

    def call(self, inputs, mask=None, dropout_masks=None):
        return apply_mask(zero_padding(inputs, mask), dropout_masks, "output")

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        config = super().get_config()
        config.update(output_dropout=self.output_dropout)
        return config
