"""Uncertainty of categorical distributions, in nats."""

import tensorflow as tf


def entropy(probabilities: tf.Tensor) -> tf.Tensor:
    """Returns H(p) = -sum_c p_c log p_c along the last axis, in nats; 0 log 0 is 0.

    A class of probability 0 contributes a gradient of 0 instead of an infinite one.

    Args:
      probabilities: [..., C] floats, non-negative, summing to 1 along the last axis.

    Returns:
      [...] floats between 0 and log C.

    Reference:
      Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling", Eq. 5.
    """
    positive = tf.where(probabilities > 0, probabilities, tf.ones([], probabilities.dtype))
    return -tf.reduce_sum(probabilities * tf.math.log(positive), axis=-1)


def mutual_information(sample_probabilities: tf.Tensor) -> tf.Tensor:
    """Returns H(mean of p over samples) - mean of H(p) over samples, in nats.

    This is the part of the predictive entropy that the samples' disagreement explains
    (epistemic uncertainty); it is 0 where all samples agree. Rounding cannot make it negative.

    Args:
      sample_probabilities: [M, ..., C] floats, one distribution for each sample.

    Returns:
      [...] floats between 0 and the entropy of the mean.

    Reference:
      Houlsby et al., 2011, "Bayesian Active Learning for Classification and Preference
      Learning".
    """
    total = entropy(tf.reduce_mean(sample_probabilities, axis=0))
    expected = tf.reduce_mean(entropy(sample_probabilities), axis=0)
    return tf.maximum(total - expected, 0.0)
