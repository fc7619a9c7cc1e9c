"""The BiLSTM with ordinary dropout: different units at each time step, in training only."""

import tensorflow as tf

from uanet_tf.arguments import check_rate
from uanet_tf.encoders.recurrent_encoder import RecurrentEncoder
from uanet_tf.ops.dropout import dropout, fold_in, keep_mask
from uanet_tf.ops.recurrence import LSTM


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BiLSTM(RecurrentEncoder):
    """Stacked bidirectional LSTM with ordinary dropout on the input of each layer and the output.

    A new mask is drawn for each token from ``dropout_seed``; nothing is dropped from the
    recurrence. Such dropout does not sample a network, so there are no masks to sample from:
    inference is one pass without dropout, whatever the number of samples.

    Args:
      hidden_width: width of the output, both directions together; even.
      num_layers: number of stacked layers.
      input_dropout: rate at which the input of each layer is dropped.
      output_dropout: rate at which the output of the last layer is dropped.
      projection_width: width of a narrow layer behind it, tanh(W h + b); None: there is none.

    Call arguments:
      inputs: [N, T, D].
      mask: [N, T] boolean, True at tokens, right-padded; None: all are tokens.
      dropout_masks: ignored, there are none.
      dropout_seed: [2] int32 tensor, or None for no dropout.
      index: see ``Encoder``; nothing is dropped then.

    Output shape:
      [N, T, hidden_width] (or projection_width), zeros at padding.

    Example:

    >>> BiLSTM(8)(tf.ones([3, 4, 5]), dropout_seed=tf.constant([1, 2])).shape
    TensorShape([3, 4, 8])

    Reference:
      Ma and Hovy, 2016, "End-to-end Sequence Labeling via Bi-directional LSTM-CNNs-CRF".
    """

    cell = LSTM

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 1,
        input_dropout: float = 0.5,
        output_dropout: float = 0.5,
        projection_width: int | None = None,
        **kwargs,
    ):
        super().__init__(
            hidden_width, num_layers=num_layers, projection_width=projection_width, **kwargs
        )
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        part = config.encoder
        return cls(
            part.hidden_width,
            num_layers=part.encoder_layers,
            input_dropout=part.variational_dropout,
            output_dropout=part.output_dropout,
            projection_width=part.projection_width or None,
            **kwargs,
        )

    def mask_widths(self, input_width):
        return {}

    def call(self, inputs, mask=None, dropout_masks=None, dropout_seed=None, index=None):
        if index is not None:
            states, _ = self.recur_forms(inputs, index, mask, {})
            return tf.expand_dims(self.project(states, mask), 0)
        masks = {} if dropout_seed is None else self._input_masks(inputs, dropout_seed)
        states = self.recur(inputs, mask, masks)
        states = dropout(states, self.output_dropout, fold_in(dropout_seed, self.num_layers))
        return self.project(states, mask)

    def training_states(self, inputs, mask, seed):
        return tf.expand_dims(self(inputs, mask=mask, dropout_seed=seed), 0)

    def _input_masks(self, inputs, seed) -> dict[str, tf.Tensor]:
        """{input_k: [T, N, width]}: with an axis of time, where tied masks have none."""
        if self.input_dropout == 0.0:
            return {}
        shape = tf.shape(inputs)
        masks = {}
        for layer in range(self.num_layers):
            width = inputs.shape[-1] if layer == 0 else self.hidden_width
            masks[f"input_{layer}"] = keep_mask(
                [shape[1], shape[0], width],
                self.input_dropout,
                fold_in(seed, layer),
                inputs.dtype,
                axis=1,
            )
        return masks

    def get_config(self):
        config = super().get_config()
        config.update(input_dropout=self.input_dropout, output_dropout=self.output_dropout)
        return config
