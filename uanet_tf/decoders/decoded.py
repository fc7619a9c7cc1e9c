"""The result of a decoder."""

from typing import NamedTuple

import tensorflow as tf


class Decoded(NamedTuple):
    """Labels of a batch, and the distributions that they were decided from.

    Attributes:
      label_ids: [B, T] int32 class ids, 0 at padding.
      probabilities: [B, T, C], the mean p of the samples. A label's confidence is its probability.
      samples: [M, B, T, C], the distribution of each sample, so that the entropy of their mean and
        their mutual information can be computed. Each distribution sums to 1, at padding too,
        where it has no meaning.
    """

    label_ids: tf.Tensor
    probabilities: tf.Tensor
    samples: tf.Tensor
