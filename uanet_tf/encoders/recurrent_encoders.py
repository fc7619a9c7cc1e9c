"""Stacked bidirectional LSTMs and GRUs, with dropout masks tied over time or ordinary ones."""

from typing import Any

import tensorflow as tf

from uanet_tf.arguments import check_even, check_even_setting, check_positive, check_rate
from uanet_tf.encoders.encoder import Encoder, Masks, apply_mask, sampled_forms, zero_padding
from uanet_tf.layers.bidirectional import DIRECTIONS, Bidirectional
from uanet_tf.ops.devices import by_device
from uanet_tf.ops.dropout import dropout, fold_in, keep_mask
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.numerics import add_linear, linear
from uanet_tf.ops.recurrence import GRU, LSTM
from uanet_tf.ops.shapes import permute, reshape, sizes


class RecurrentEncoder(Encoder):
    """Base of recurrent encoders: owns the recurrences, drops nothing by itself.

    A subclass names its ``cell``; its ``mask_widths`` and ``call`` define what is dropped.

    Args:
      hidden_width: width H of the output, both directions together; even.
      num_layers: number of stacked layers.
      input_dropout: rate r of z_x, what is dropped of the input of each layer.
      output_dropout: rate of what is dropped of the output of the last layer.
      projection_width: width of a narrow layer behind it, tanh(W h + b); None: there is none.

    Attributes:
      cell: the recurrence of one direction, see ``ops.recurrence``.
    """

    cell: Any = None
    reads_forms = True
    reads_lite = True

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        num_layers: int = 1,
        input_dropout: float = 0.25,
        output_dropout: float = 0.0,
        projection_width: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.hidden_width = check_even("hidden_width", hidden_width)
        self.num_layers = check_positive("num_layers", num_layers)
        self.input_dropout = check_rate("input_dropout", input_dropout)
        self.output_dropout = check_rate("output_dropout", output_dropout)
        self.projection_width = check_positive("projection_width", projection_width, optional=True)

    @classmethod
    def check_settings(cls, config):
        check_even_setting("hidden_width", config.encoder.hidden_width)

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

    def build(self, input_shape):
        units = self.hidden_width // 2
        width = input_shape[-1]
        self.recurrences = []
        for layer in range(self.num_layers):
            names = f"{{weight}}_{layer}_{{way}}"
            self.recurrences.append(Bidirectional(self, self.cell, width, units, names))
            width = self.hidden_width
        self.build_projection()
        super().build(input_shape)

    def build_projection(self) -> None:
        """Adds the narrow layer, if there is one."""
        if self.projection_width:
            self.projection_kernel, self.projection_bias = add_linear(
                self, "projection", self.hidden_width, self.projection_width
            )

    def recur(
        self,
        inputs: tf.Tensor,
        mask: tf.Tensor | None,
        masks: Masks,
        places: tf.Tensor | None = None,
        lite: LiteGraph | None = None,
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
            ways = recurrence(states, times, tied, places, lite)
            states, places = tf.concat(ways, axis=-1), None  # [T, N, hidden_width]
        return permute(states, [1, 0, 2])

    def recur_forms(
        self, forms: tf.Tensor, index: tf.Tensor, mask: tf.Tensor | None, masks: Masks
    ) -> tf.Tensor:
        """As ``recur``, for words that are rows of a table, in J samples: [J, B, T, hidden_width].

        The masks have J rows each; none of them changes over time. For the others see
        ``sampled_forms``.
        """

        def by_loop() -> tf.Tensor:
            given = sampled_forms(forms, index, mask, masks, "input_0")
            states = self.recur(given.table, given.mask, given.masks, given.places)
            return reshape(states, [given.samples, *sizes(index), states.shape[-1]])

        samples = next(iter(masks.values())).shape[0] if masks else 1
        if self.cell is not LSTM or forms.dtype != tf.float32 or mask is None or not samples:
            return by_loop()
        return by_device(by_loop, lambda: self._recur_at_once(forms, index, mask, masks, samples))

    def _recur_at_once(self, forms, index, mask, masks, samples) -> tf.Tensor:
        """The same without loops, see ``ops.cudnn``."""
        lengths = tf.math.count_nonzero(mask, axis=1, dtype=tf.int32)  # [B]
        states = [tf.gather(forms, tf.transpose(index))] * samples  # J times [T, B, D]
        for layer, recurrence in enumerate(self.recurrences):
            tied = [masks.get(f"recurrent_{layer}_{way}") for way in DIRECTIONS]
            states = recurrence.at_once(states, lengths, masks.get(f"input_{layer}"), tied)
        return zero_padding(tf.transpose(tf.stack(states), [0, 2, 1, 3]), mask)  # [J, B, T, ..]

    def project(self, states: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
        """Returns the narrow layer's output for the states; without one, the states."""
        if not self.projection_width:
            return states
        narrow = linear(states, self.projection_kernel, self.projection_bias)
        return zero_padding(tf.tanh(narrow), mask)  # [N, T, projection_width]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class VariationalEncoder(RecurrentEncoder):
    """Base of recurrent encoders with one input mask and one recurrent mask per direction.

    Both masks are the same at every time step and for all gates. Without masks nothing is dropped.

    Args (further ones: ``RecurrentEncoder``):
      recurrent_dropout: rate of z_h, the mask on the previous hidden state.

    Reference: Gal and Ghahramani, 2016, "A Theoretically Grounded Application of Dropout in
      Recurrent Neural Networks".
    """

    def __init__(self, hidden_width: int = 400, *, recurrent_dropout: float = 0.25, **kwargs):
        super().__init__(hidden_width, **kwargs)
        self.recurrent_dropout = check_rate("recurrent_dropout", recurrent_dropout)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        rate = config.encoder.recurrent_dropout
        return super().from_settings(config, vocabulary, recurrent_dropout=rate, **kwargs)

    def mask_widths(self, input_width):
        units = self.hidden_width // 2
        widths = {}
        for layer in range(self.num_layers):
            width = input_width if layer == 0 else self.hidden_width
            widths[f"input_{layer}"] = (width, self.input_dropout)
            for direction in DIRECTIONS:
                widths[f"recurrent_{layer}_{direction}"] = (units, self.recurrent_dropout)
            widths |= self.further_masks(layer)
        widths["output"] = (self.hidden_width, self.output_dropout)
        return widths

    def further_masks(self, layer: int) -> dict[str, tuple[int, float]]:
        """Masks of a layer beside those of its recurrence, as of ``mask_widths``; here: none."""
        del layer
        return {}

    def call(self, inputs, mask=None, dropout_masks=None, index=None, lite=None):
        masks = dropout_masks or {}
        if index is None:
            states = self.recur(inputs, mask, masks, lite=lite)
            return self.project(apply_mask(states, masks, "output"), mask)
        states = self.recur_forms(inputs, index, mask, masks)  # [J, B, T, hidden_width]
        if "output" in masks:
            states *= reshape(masks["output"], [-1, 1, 1, states.shape[-1]])
        return self.project(states, mask)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class VariationalBiLSTM(VariationalEncoder):
    """A ``VariationalEncoder`` of LSTMs; the masks are the same for all four gates.

    Example:
    >>> encoder = VariationalBiLSTM(8)
    >>> masks = encoder.draw_masks(tf.constant([1, 2]), 3, input_width=5)
    >>> encoder(tf.ones([3, 4, 5]), dropout_masks=masks).shape
    TensorShape([3, 4, 8])

    Reference: Gal and Ghahramani, 2016; Gui et al., 2020, Eq. 3; narrow layer: Rei et al., 2016,
      section 2.
    """

    cell = LSTM


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BiGRU(VariationalEncoder):
    """Stacked bidirectional GRU; its arguments and masks are those of ``VariationalEncoder``.

    Example:
    >>> BiGRU(8)(tf.ones([3, 4, 5])).shape
    TensorShape([3, 4, 8])

    Reference: Cho et al., 2014; as an encoder of labellers: Dinarelli and Grobol, 2019, "Seq2Biseq:
      Bidirectional Output-wise Recurrent Neural Networks for Sequence Modelling".
    """

    cell = GRU


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BiLSTM(RecurrentEncoder):
    """Stacked bidirectional LSTM with ordinary dropout on the input of each layer and the output.

    A new mask is drawn for each token from ``dropout_seed``; nothing is dropped from the
    recurrence. Such dropout does not sample a network, so there are no masks to sample from:
    inference is one pass without dropout, whatever the number of samples. Its arguments are those
    of ``RecurrentEncoder``.

    Call arguments (further ones: ``Encoder``):
      dropout_seed: [2] int32 tensor, or None for no dropout; not with ``index``.

    Example:
    >>> BiLSTM(8)(tf.ones([3, 4, 5]), dropout_seed=tf.constant([1, 2])).shape
    TensorShape([3, 4, 8])

    Reference: Ma and Hovy, 2016, "End-to-end Sequence Labeling via Bi-directional LSTM-CNNs-CRF".
    """

    cell = LSTM

    def __init__(
        self,
        hidden_width: int = 400,
        *,
        input_dropout: float = 0.5,
        output_dropout: float = 0.5,
        **kwargs,
    ):
        super().__init__(
            hidden_width, input_dropout=input_dropout, output_dropout=output_dropout, **kwargs
        )

    def mask_widths(self, input_width):
        return {}

    def call(self, inputs, mask=None, dropout_masks=None, dropout_seed=None, index=None, lite=None):
        if index is not None:
            return self.project(self.recur_forms(inputs, index, mask, {}), mask)
        masks = {} if dropout_seed is None else self._input_masks(inputs, dropout_seed)
        states = self.recur(inputs, mask, masks, lite=lite)
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
            size = [shape[1], shape[0], width]
            drawn = keep_mask(size, self.input_dropout, fold_in(seed, layer), inputs.dtype, axis=1)
            masks[f"input_{layer}"] = drawn
        return masks
