"""The result of a tagger for a batch."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.inference.draft import Draft
from uanet_tf.ops.masking import keep


class Decision(NamedTuple):
    """The labels of B sentences of T tokens, C classes, and the distributions behind them.

    Attributes:
      label_ids: [B, T] int32 class ids, valid in the tag scheme, 0 at padding.
      probabilities: [B, T, C], the distribution that each label comes from.
      draft: the drafter's result.
      refined_label_ids: [B, T] int32, the refiner's labels; None without a refiner.
      refined: [B, T] boolean, whether the refined label was taken; None without a refiner.
      calibrated: [B, T], calibrated confidence of the labels; None without calibration.
      accepted: [B, T] boolean, whether that is enough for the target precision; None without one.
    """

    label_ids: tf.Tensor
    probabilities: tf.Tensor
    draft: Draft
    refined_label_ids: tf.Tensor | None = None
    refined: tf.Tensor | None = None
    calibrated: tf.Tensor | None = None
    accepted: tf.Tensor | None = None

    @property
    def confidence(self) -> tf.Tensor:
        """[B, T], calibrated, or else the probability of the label given; 0 at padding.

        Not the maximum: a decoded sequence need not have a token's most probable label.
        """
        confidence = self.calibrated
        if confidence is None:
            confidence = tf.gather(self.probabilities, self.label_ids, axis=-1, batch_dims=2)
        return keep(self.draft.mask, confidence)
