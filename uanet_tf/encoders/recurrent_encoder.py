"""A stacked bidirectional recurrence: the base of encoders with an LSTM or a GRU."""

from typing import Any

import tensorflow as tf

from uanet_tf.arguments import check_even, check_even_setting, check_positive
from uanet_tf.encoders.encoder import Encoder, Masks, zero_padding
from uanet_tf.encoders.form_inputs import FormInputs, sampled_forms
from uanet_tf.layers.bidirectional import DIRECTIONS, Bidirectional
from uanet_tf.ops.graphs import wants_blocks
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import permute


class RecurrentEncoder(Encoder):
    """Base of recurrent encoders: owns the recurrences, drops nothing by itself.

    A subclass names its ``cell``; its ``mask_widths`` and ``call`` define what is dropped.

    Args:
      hidden_width: width of the output, both directions together; even.
      num_layers: number of stacked layers.
      projection_width: width of a narrow layer behind it, tanh(W h + b); None: there is none.

    Attributes:
      cell: the recurrence of one direction, see ``ops.cells``.
    """

    cell: Any = None

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 1,
        projection_width: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)
        self.num_layers = check_positive("num_layers", num_layers)
        self.projection_width = check_positive("projection_width", projection_width, optional=True)

    @classmethod
    def check_settings(cls, config):
        check_even_setting("hidden_width", config.encoder.hidden_width)

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

    def recur(
        self,
        inputs: tf.Tensor,
        mask: tf.Tensor | None,
        masks: Masks,
        places: tf.Tensor | None = None,
    ) -> tf.Tensor:
        """Returns the states [N, T, hidden_width] of the last layer.

        Args:
          inputs: [N, T, D]; with ``places`` a table [R, D].
          mask: [N, T] boolean; None: all are tokens.
          masks: "input_k" for the input of layer k, [N, width], or [T, N, width] if it changes
            over time; "recurrent_k_forward" and "recurrent_k_backward" [N, hidden_width / 2] for
            its previous states. A missing mask drops nothing.
          places: [N, T] int32, the row of the table for each token.
        """
        states = inputs
        if places is None:
            states = permute(inputs, [1, 0, 2])  # [T, N, D]
        else:
            places = tf.transpose(places)  # [T, N]
        times = None if mask is None else tf.transpose(mask)  # [T, N]
        for layer, recurrence in enumerate(self.recurrences):
            if f"input_{layer}" in masks:
                states = states * masks[f"input_{layer}"]  # z_x, at every t
            tied = {way: masks.get(f"recurrent_{layer}_{way}") for way in DIRECTIONS}  # z_h
            ways = recurrence(states, times, tied, places)
            states, places = tf.concat(ways, axis=-1), None  # [T, N, hidden_width]
        return permute(states, [1, 0, 2])

    def recur_forms(
        self, forms: tf.Tensor, index: tf.Tensor, mask: tf.Tensor | None, masks: Masks
    ) -> tuple[tf.Tensor, FormInputs]:
        """As ``recur``, for words that are rows of a table, in J samples.

        Args:
          forms: [U, D].
          index: [B, T] int32.
          mask: [B, T] boolean, or None.
          masks: with J rows each; none of them changes over time.

        Returns:
          The states [J * B, T, hidden_width], and what they were computed from.
        """
        given = sampled_forms(forms, index, mask, masks, "input_0")
        return self.recur(given.table, given.mask, given.masks, given.places), given

    @property
    def reads_forms(self) -> bool:
        """Whether a call takes ``index``: not within ``loops_in_blocks``, of one sentence."""
        return not wants_blocks()

    def project(self, states: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
        """Returns the narrow layer's output for the states; without one, the states."""
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
            projection_width=self.projection_width,
        )
        return config
