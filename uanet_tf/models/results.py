"""What drafting and deciding give for a batch."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.ops.masking import keep


class Draft(NamedTuple):
    """The draft of B sentences of T tokens, C classes (Gui et al., 2020, Eq. 4 and 5).

    Attributes:
      label_ids: [B, T] int32 class ids, valid in the tag scheme, 0 at padding.
      probabilities: [B, T, C], the mean distribution p of the samples.
      uncertainty: [B, T], u in nats, 0 at padding.
      mask: [B, T] boolean, True at tokens; None: there is no padding.
      words: [B, T, D], the drafter's word vectors; None where nothing reads them.
      states: [B, T, H], its states, the mean of the samples; None where nothing reads them.
      mutual_information: [B, T], nats, 0 at padding; None where it is not asked for.
    """

    label_ids: tf.Tensor
    probabilities: tf.Tensor
    uncertainty: tf.Tensor
    mask: tf.Tensor | None
    words: tf.Tensor | None = None
    states: tf.Tensor | None = None
    mutual_information: tf.Tensor | None = None

    def rows(self, numbers: tf.Tensor) -> "Draft":
        """The draft of the sentences ``numbers`` [R]."""
        return Draft(*(None if part is None else tf.gather(part, numbers) for part in self))


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
      candidates: [B, T, S], see ``Candidates``; None where they are not asked for.
    """

    label_ids: tf.Tensor
    probabilities: tf.Tensor
    draft: Draft
    refined_label_ids: tf.Tensor | None = None
    refined: tf.Tensor | None = None
    calibrated: tf.Tensor | None = None
    accepted: tf.Tensor | None = None
    candidates: tf.Tensor | None = None

    @property
    def confidence(self) -> tf.Tensor:
        """[B, T], calibrated, or else the probability of the label given; 0 at padding.

        Not the maximum: a decoded sequence need not have a token's most probable label.
        """
        confidence = self.calibrated
        if confidence is None:
            confidence = tf.gather(self.probabilities, self.label_ids, axis=-1, batch_dims=2)
        return keep(self.draft.mask, confidence)
