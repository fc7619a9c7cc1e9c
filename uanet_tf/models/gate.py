"""The gate: the refined label where the draft is uncertain, the draft elsewhere."""

from typing import Any, NamedTuple

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, KeepsArguments
from uanet_tf.errors import InputError
from uanet_tf.ops.masking import keep
from uanet_tf.settings import check_threshold


class Gated(NamedTuple):
    """The gate's result."""

    label_ids: tf.Tensor  # [B, T] int32, 0 at padding
    refined_label_ids: tf.Tensor  # as these
    refined: tf.Tensor  # [B, T] boolean: the refined label was taken; False at padding
    probabilities: tf.Tensor  # [B, T, C], what each label comes from; the draft's at padding


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class RefinementGate(KeepsArguments, tf.keras.layers.Layer):
    """label = argmax p_hat where u > Gamma (strictly), else argmax p.

    Gamma is a weight, so that a tuned one is saved with the model and can be changed at run time.

    Call arguments:
      draft: [B, T, C] mean draft distribution p.
      refined: [B, T, C] refined distribution p_hat.
      uncertainty: [B, T] nats.
      mask: [B, T] boolean, True at tokens; None: there is no padding.
      threshold: Gamma in nats, a scalar or one per sentence [B]; None: the gate's own.

    Reference:
      Gui et al., 2020, section 3.2.
    """

    def __init__(self, threshold: float = 0.35, **kwargs):
        super().__init__(**{**kwargs, "dtype": tf.float32})
        initial = tf.keras.initializers.Constant(_checked(threshold))
        self.gamma = self.add_weight("gamma", [], initializer=initial, trainable=False)

    @property
    def threshold(self) -> float:
        """Gamma, nats. Setting it takes effect at once."""
        # By its shortest decimal: 0.35, not the 0.3499999940395355 of the float32.
        return float(str(self.gamma.numpy()))

    @threshold.setter
    def threshold(self, value: float) -> None:
        self.gamma.assign(_checked(value))

    def passes(self, uncertainty: tf.Tensor, threshold: tf.Tensor | None = None) -> tf.Tensor:
        """Whether u > Gamma, strictly: [B, T] booleans."""
        gamma = self.gamma if threshold is None else threshold
        gamma = tf.convert_to_tensor(gamma, uncertainty.dtype)
        if gamma.shape.rank == 1:
            gamma = tf.expand_dims(gamma, -1)  # [B, 1]
        return uncertainty > gamma

    def call(self, draft, refined, uncertainty, mask, threshold=None) -> Gated:
        passed = keep(mask, self.passes(uncertainty, threshold), False)
        draft_ids = tf.argmax(draft, axis=-1, output_type=tf.int32)
        refined_ids = tf.argmax(refined, axis=-1, output_type=tf.int32)
        return Gated(
            label_ids=keep(mask, tf.where(passed, refined_ids, draft_ids)),
            refined_label_ids=keep(mask, refined_ids),
            refined=passed,
            probabilities=tf.where(tf.expand_dims(passed, -1), refined, draft),
        )

    def passed(self, refined: tf.Tensor, passes: tf.Tensor, mask: tf.Tensor | None) -> Gated:
        """What a call returns, of a refiner that leaves the draft where the gate is shut.

        ``refined`` [B, T, C] is p_hat where ``passes`` [B, T] (u > Gamma), the draft's elsewhere.
        """
        label_ids = keep(mask, tf.argmax(refined, axis=-1, output_type=tf.int32))
        return Gated(label_ids, label_ids, keep(mask, passes, False), refined)


def _checked(threshold: Any) -> float:
    """Gamma, if it can be one; ArgumentError, which Keras' layers raise, if not."""
    try:
        return check_threshold(threshold)
    except InputError as error:
        raise ArgumentError(str(error)) from None
