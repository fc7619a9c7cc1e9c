"""The interface of encoders: dropout masks are arguments, not state."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from uanet_tf.arguments import Part, check_rate
from uanet_tf.ops.dropout import fold_in, keep_mask, stratified_mask
from uanet_tf.ops.shapes import sizes

Masks = Mapping[str, tf.Tensor]


class Encoder(Part, tf.keras.layers.Layer):
    """Base of encoders: contextual states from word vectors, under given dropout masks.

    A subclass names its masks in ``mask_widths`` and applies them in
    ``call(inputs, mask=None, dropout_masks=None)``. A mask has one row for each row of the inputs,
    and is the same at every time step. In training each sentence has its own row; in Monte Carlo
    sampling row j belongs to sample j and is shared by every sentence, so that a sentence's samples
    do not depend on its place in a batch (see ``models.sampling``).

    Call arguments:
      inputs: [N, T, D].
      mask: [N, T] boolean, True at tokens, right-padded; None: all are tokens.
      dropout_masks: what ``draw_masks`` gives, with N rows; None: nothing is dropped.

    Output shape: [N, T, H], the states; zeros at padding.

    An encoder that ``reads_forms`` also takes ``index`` [B, T] int32: the inputs [U, D] are then
    the vectors of distinct words, the masks have a row for each of J samples, and the states are
    [J, B, T, H]. What it computes of a word by itself it then computes once.

    A mask that Keras gives, such as an embedding's, is passed on with the states.
    """

    reads_forms = False

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def mask_widths(self, input_width: int) -> dict[str, tuple[int, float]]:
        """Returns {name: (width, rate)} of the masks; rates of 0 may be left out."""
        raise NotImplementedError(f"{type(self).__name__} must define mask_widths.")

    def draw_masks(self, seed: tf.Tensor, count: int | tf.Tensor, input_width: int) -> Masks:
        """Draws ``count`` independent rows of every mask, from a [2] int32 seed."""
        return self._masks(keep_mask, seed, count, input_width)

    def sampling_masks(self, seed: tf.Tensor, num_samples: int, input_width: int) -> Masks:
        """Draws the masks of M samples of one network: {name: [M, width]}.

        Each row is distributed as one of ``draw_masks``, but together they drop each unit equally
        often: see ``ops.dropout.stratified_mask``.
        """
        return self._masks(stratified_mask, seed, num_samples, input_width)

    def _masks(self, draw: Callable[..., tf.Tensor], seed, count, input_width) -> Masks:
        # A seed that is known when a graph is made gives masks that are its constants: they are
        # not drawn at each call, and an exported graph holds no random numbers.
        known = not any(map(tf.is_symbolic_tensor, tf.nest.flatten([seed, count])))
        widths = self.mask_widths(input_width).items()
        with tf.init_scope() if known else contextlib.nullcontext():
            return {
                name: draw([count, width], rate, fold_in(seed, number), self.compute_dtype)
                for number, (name, (width, rate)) in enumerate(widths)
                if rate > 0.0
            }

    def training_states(
        self, inputs: tf.Tensor, mask: tf.Tensor, seed: tf.Tensor | None
    ) -> tf.Tensor:
        """The pass of training: each sentence under masks of its own.

        An encoder overrides this where only training drops something (ordinary dropout,
        attention weights) or where training scores more than the last states.

        Args:
          inputs: [N, T, D] word vectors.
          mask: [N, T] boolean.
          seed: [2] int32 seed of this step; None: the same states without dropout.

        Returns: [K, N, T, H], the states that the loss scores; K = 1 except for iterated ones, and
          the last are the states that ``call`` returns.
        """
        masks = self.training_masks(inputs, seed)
        return tf.expand_dims(self(inputs, mask=mask, dropout_masks=masks), 0)

    def training_masks(self, inputs: tf.Tensor, seed: tf.Tensor | None) -> Masks | None:
        """One row of every mask for each sentence of ``inputs``; None without a seed."""
        if seed is None:
            return None
        return self.draw_masks(seed, tf.shape(inputs)[0], inputs.shape[-1])


def zero_padding(inputs: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
    """Zeros [N, T, D] at padding, by selection: a NaN there does not pass."""
    if mask is None:
        return inputs
    return tf.where(tf.expand_dims(mask, -1), inputs, tf.zeros([], inputs.dtype))


def apply_mask(inputs: tf.Tensor, masks: Masks | None, name: str) -> tf.Tensor:
    """Multiplies [N, T, D] by the mask [N, D] called ``name``, at every time step."""
    if masks is None or name not in masks:
        return inputs
    return inputs * tf.expand_dims(masks[name], 1)


class FormInputs(NamedTuple):
    """J samples of B sentences as one batch; see ``sampled_forms``.

    Attributes:
      table: [R, D], the vectors that ``places`` counts.
      places: [J * B, T] int32, the row of each token; at padding any.
      mask: [J * B, T] boolean; None: all are tokens.
      masks: {name: [J * B, width]}.
      samples: J.
    """

    table: tf.Tensor
    places: tf.Tensor
    mask: tf.Tensor | None
    masks: Masks
    samples: int | tf.Tensor


def sampled_forms(
    forms: tf.Tensor, index: tf.Tensor, mask: tf.Tensor | None, masks: Masks, first: str
) -> FormInputs:
    """Gives each sample its own table, so that what a layer computes of a word is computed once.

    Args:
      forms: [U, D] vectors of distinct words.
      index: [B, T] int32, the row of each token.
      mask: [B, T] boolean, or None.
      masks: {name: [J, width]}; {}: one pass without dropout, J = 1.
      first: name of the mask on the vectors; it is applied.
    """
    if not masks:
        return FormInputs(forms, index, mask, {}, 1)
    count = sizes(next(iter(masks.values())))[0]
    batch, steps = sizes(index)
    table, places = forms, tf.tile(index, [count, 1])  # [J * B, T]
    if first in masks:
        table = tf.expand_dims(forms, 0) * tf.expand_dims(masks[first], 1)  # [J, U, D]
        starts = tf.range(count) * sizes(forms)[0]
        places = tf.expand_dims(index, 0) + tf.reshape(starts, [-1, 1, 1])  # [J, B, T]
        places = tf.reshape(places, [-1, steps])
        table = tf.reshape(table, [-1, forms.shape[-1]])  # [J * U, D]
    return FormInputs(
        table,
        places,
        None if mask is None else tf.tile(mask, [count, 1]),
        {name: tf.repeat(rows, batch, axis=0) for name, rows in masks.items() if name != first},
        count,
    )


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class NoEncoder(Encoder):
    """Returns the word vectors, under a dropout mask tied over time.

    For representations that are contextual already, and to measure what context contributes.
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
