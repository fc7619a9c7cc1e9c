"""The interface of encoders: dropout masks are arguments, not state."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.ops.dropout import fold_in, keep_mask, stratified_mask

Masks = Mapping[str, tf.Tensor]


class Encoder(tf.keras.layers.Layer):
    """Base of encoders: contextual states from word vectors, under given dropout masks.

    A subclass names its masks in ``mask_widths`` and applies them in
    ``call(inputs, mask=None, dropout_masks=None)``. A mask has one row for each row of the
    inputs, and is the same at every time step. In training each sentence has its own row;
    in Monte Carlo sampling row j belongs to sample j and is shared by every sentence, so
    that a sentence's samples do not depend on its place in a batch (see
    ``models.sampling``). States are zeros at padding.

    An encoder that ``reads_forms`` also takes ``index`` [B, T] int32: the inputs [U, D] are then
    the vectors of distinct words, the masks have a row for each of J samples, and the states are
    [J, B, T, H]. What it computes of a word by itself it then computes once.

    A mask that Keras gives, such as an embedding's, is passed on with the states.
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    @property
    def reads_forms(self) -> bool:
        """Whether a call takes ``index``."""
        return False

    @classmethod
    def check_settings(cls, config: Config) -> None:
        """Raises InputError where this part refuses the settings of a run; here: nowhere."""
        del config

    @classmethod
    def from_settings(cls, config: Config, vocabulary: Vocabulary, **kwargs: Any) -> "Encoder":
        """The encoder that a run's settings describe; see ``uanet_tf.registry``."""
        raise NotImplementedError(f"{cls.__name__} must define from_settings.")

    def mask_widths(self, input_width: int) -> dict[str, tuple[int, float]]:
        """Returns {name: (width, rate)} of the masks; rates of 0 may be left out."""
        raise NotImplementedError(f"{type(self).__name__} must define mask_widths.")

    def draw_masks(self, seed: tf.Tensor, count: int | tf.Tensor, input_width: int) -> Masks:
        """Draws ``count`` independent rows of every mask: {name: [count, width]}.

        Args:
          seed: [2] int32 seed.
          count: number of rows.
          input_width: width D of the inputs.
        """
        return self._masks(keep_mask, seed, count, input_width)

    def sampling_masks(self, seed: tf.Tensor, num_samples: int, input_width: int) -> Masks:
        """Draws the masks of M samples of one network: {name: [M, width]}.

        Each row is distributed as one of ``draw_masks``, but together they drop each unit equally
        often: see ``ops.stratified_mask``.

        Args:
          seed: [2] int32 seed.
          num_samples: M.
          input_width: width D of the inputs.
        """
        return self._masks(stratified_mask, seed, num_samples, input_width)

    def _masks(self, draw: Callable[..., tf.Tensor], seed, count, input_width) -> Masks:
        # A seed that is known when a graph is made gives masks that are its constants: they are
        # not drawn at each call, and an exported graph holds no random numbers.
        known = not any(map(tf.is_symbolic_tensor, tf.nest.flatten([seed, count])))
        with tf.init_scope() if known else contextlib.nullcontext():
            return {
                name: draw([count, width], rate, fold_in(seed, number), self.compute_dtype)
                for number, (name, (width, rate)) in enumerate(
                    self.mask_widths(input_width).items()
                )
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

        Returns:
          [K, N, T, H], the states that the loss scores; K = 1 except for iterated ones, and
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
