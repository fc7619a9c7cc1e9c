"""The drafter's result, which refiner and gate read."""

from typing import NamedTuple

import tensorflow as tf


class Draft(NamedTuple):
    """The draft of B sentences of T tokens, C classes (Gui et al., 2020, Eq. 4 and 5).

    Attributes:
      label_ids: [B, T] int32 class ids, valid in the tag scheme, 0 at padding.
      probabilities: [B, T, C], the mean distribution p of the samples.
      uncertainty: [B, T], u in nats, 0 at padding.
      mask: [B, T] boolean, True at tokens.
      words: [B, T, D], the drafter's word vectors; None where nothing reads them.
      states: [B, T, H], its states, the mean of the samples; None where nothing reads them.
      mutual_information: [B, T], nats, 0 at padding; None where it is not asked for.
    """

    label_ids: tf.Tensor
    probabilities: tf.Tensor
    uncertainty: tf.Tensor
    mask: tf.Tensor
    words: tf.Tensor | None = None
    states: tf.Tensor | None = None
    mutual_information: tf.Tensor | None = None

    def rows(self, numbers: tf.Tensor) -> "Draft":
        """The draft of the sentences ``numbers`` [R]."""
        return Draft(*(None if part is None else tf.gather(part, numbers) for part in self))
