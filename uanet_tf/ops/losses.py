"""Probabilities of classes: softmax, entropy, cross entropy, and what keeps outputs close."""

import tensorflow as tf

from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.numerics import widen


def entropy(probabilities: tf.Tensor) -> tf.Tensor:
    """Returns H(p) = -sum_c p_c log p_c along the last axis, in nats; 0 log 0 is 0.

    From distributions [..., C]: [...] floats between 0 and log C. A class of probability 0
    contributes a gradient of 0 instead of an infinite one.

    Reference: Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling", Eq. 5.
    """
    positive = tf.where(probabilities > 0, probabilities, tf.ones([], probabilities.dtype))
    return -tf.reduce_sum(probabilities * tf.math.log(positive), axis=-1)


def mutual_information(sample_probabilities: tf.Tensor) -> tf.Tensor:
    """Returns H(mean of p over samples) - mean of H(p) over samples, in nats.

    This is the part of the predictive entropy that the samples' disagreement explains (epistemic
    uncertainty); it is 0 where all samples agree. Rounding cannot make it negative. From one
    distribution for each sample, [M, ..., C]: [...] floats, at most the entropy of the mean.

    Reference: Houlsby et al., 2011, "Bayesian Active Learning for Classification and Preference
      Learning".
    """
    total = entropy(tf.reduce_mean(sample_probabilities, axis=0))
    expected = tf.reduce_mean(entropy(sample_probabilities), axis=0)
    return tf.maximum(total - expected, 0.0)


def masked_cross_entropy(logits: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Sum over tokens of -log softmax(logits)[label], in nats, a scalar.

    From logits [B, T, C] and labels [B, T] int32, at padding any value in [0, C), which contributes
    neither value nor gradient.
    """
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, widen(logits))  # [B, T]
    return tf.reduce_sum(tf.where(mask, losses, 0.0))


def expectation_linear_penalty(
    dropped: tf.Tensor, plain: tf.Tensor, mask: tf.Tensor | None = None
) -> tf.Tensor:
    """Half the squared distance between outputs with and without dropout, summed over tokens.

    In inference a network runs without dropout, or as a mean over samples; this keeps both close to
    the training passes. Both arguments, states or scores [..., B, T, D], receive gradients. The
    mask is [B, T] booleans, True = token. None: no padding. The result is a scalar.

    Reference: Ma et al., 2017, "Dropout with Expectation-linear Regularization"; on the scores of
      each iterate in Strubell et al., 2017.
    """
    gap = widen(dropped) - widen(plain)
    distances = tf.reduce_sum(tf.square(gap), axis=-1)  # [..., B, T]
    if mask is not None:
        distances = tf.where(mask, distances, 0.0)
    return 0.5 * tf.reduce_sum(distances)


def class_softmax(logits: tf.Tensor, lite: LiteGraph | None = None) -> tf.Tensor:
    """Returns what ``tf.nn.softmax`` does, over the last axis.

    For few tokens beside other work: TensorFlow gives its softmax to oneDNN, which shares out the
    smallest among threads. For the classes of one sentence these two operations take less time, for
    those of thousands of tokens up to twice as long.
    """
    if lite is not None:  # TensorFlow Lite shares out nothing
        return tf.nn.softmax(logits)
    return tf.exp(tf.nn.log_softmax(logits))
