"""What drafting and deciding give for a batch."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.ops.masking import keep


class Draft(NamedTuple):
    """The draft of B sentences of T tokens, C classes (Gui et al., 2020, Eq. 4 and 5)."""

    label_ids: tf.Tensor  # [B, T] int32 class ids, valid in the tag scheme, 0 at padding
    probabilities: tf.Tensor  # [B, T, C], the mean distribution p of the samples
    uncertainty: tf.Tensor  # [B, T], u in nats, 0 at padding
    mask: tf.Tensor | None  # [B, T] boolean, True at tokens; None: there is no padding
    # [B, T, D] word vectors of the drafter, and [B, T, H] its states, the mean of the samples; None
    # where nothing reads them.
    words: tf.Tensor | None = None
    states: tf.Tensor | None = None
    mutual_information: tf.Tensor | None = None  # [B, T], nats, 0 at padding; None: not asked for

    def rows(self, numbers: tf.Tensor) -> "Draft":
        """The draft of the sentences ``numbers`` [R]."""
        return Draft(*(None if part is None else tf.gather(part, numbers) for part in self))


class Decision(NamedTuple):
    """The labels of B sentences of T tokens, C classes, and the distributions behind them."""

    label_ids: tf.Tensor  # [B, T] int32 class ids, valid in the tag scheme, 0 at padding
    probabilities: tf.Tensor  # [B, T, C], the distribution that each label comes from
    draft: Draft
    # The refiner's labels [B, T] int32, and whether they were taken, boolean; None without one.
    refined_label_ids: tf.Tensor | None = None
    refined: tf.Tensor | None = None
    # Calibrated confidence of the labels [B, T], and whether that is enough for the target
    # precision, boolean; None without calibration, and without a target.
    calibrated: tf.Tensor | None = None
    accepted: tf.Tensor | None = None
    candidates: tf.Tensor | None = None  # [B, T, S], see ``Candidates``; None: not asked for

    @property
    def confidence(self) -> tf.Tensor:
        """[B, T], calibrated, or else the probability of the label given; 0 at padding.

        Not the maximum: a decoded sequence need not have a token's most probable label.
        """
        confidence = self.calibrated
        if confidence is None:
            confidence = tf.gather(self.probabilities, self.label_ids, axis=-1, batch_dims=2)
        return keep(self.draft.mask, confidence)
