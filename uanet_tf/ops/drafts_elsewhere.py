"""What the drafts of the same word say in other sentences of its document."""

from collections.abc import Sequence

import tensorflow as tf


def drafts_elsewhere(
    drafts: tf.Tensor,
    seen: tf.Tensor,
    keys: Sequence[tf.Tensor],
    sentences: tf.Tensor,
    documents: tf.Tensor,
) -> tf.Tensor:
    """Means of the draft distributions of tokens that share a key, and how many these are.

    Only tokens of other sentences count: within a sentence the refiner reads the drafts
    themselves. No result depends on the order of the tokens, up to rounding.

    Args:
      drafts: [N, C] distributions.
      seen: [N] booleans: whether a token has a draft; one without counts nowhere.
      keys: K times [N] int64: tokens with equal numbers are mentions of one another.
      sentences, documents: [N] int32, those of each token.

    Returns: [N, D], D of ``elsewhere_width``: for each key the mean, 0 where there is no other
      mention, and log(1 + mentions); last 1 where the document has other sentences, else 0, so that
      a word that is only here differs from a sentence by itself.
    """
    weights = tf.cast(tf.expand_dims(seen, 1), drafts.dtype)
    # By selection: a value without a draft, even NaN, does not reach the sums.
    drafts = tf.where(tf.expand_dims(seen, 1), drafts, tf.zeros([], drafts.dtype))
    values = tf.concat([drafts, weights], axis=1)  # [N, C + 1]
    found = []
    for key in keys:
        sums = _elsewhere(values, key, sentences)
        counts = sums[:, -1:]  # whole numbers, so that the differences are exact
        means = tf.where(counts > 0.0, sums[:, :-1] / tf.maximum(counts, 1.0), 0.0)
        found += [means, tf.math.log1p(counts)]
    others = _elsewhere(weights, documents, sentences) > 0.0
    return tf.concat([*found, tf.cast(others, drafts.dtype)], axis=1)


def elsewhere_width(num_classes: int, num_keys: int) -> int:
    """D, the numbers that ``drafts_elsewhere`` gives a token."""
    return num_keys * (num_classes + 1) + 1


def _elsewhere(values: tf.Tensor, key: tf.Tensor, sentences: tf.Tensor) -> tf.Tensor:
    """Sums of values [N, D] over the tokens of other sentences with the same key, [N, D]."""
    _, mention = tf.unique(key)
    rows = tf.cast(tf.reduce_max(tf.concat([sentences, [0]], axis=0)), tf.int64) + 1
    _, own = tf.unique(tf.cast(mention, tf.int64) * rows + tf.cast(sentences, tf.int64))
    return _sum(values, mention) - _sum(values, own)


def _sum(values: tf.Tensor, group: tf.Tensor) -> tf.Tensor:
    """For each row of ``values`` [N, D] the sum of the rows of its group [N], [N, D]."""
    most = tf.reduce_max(tf.concat([group, [-1]], axis=0)) + 1
    return tf.gather(tf.math.unsorted_segment_sum(values, group, most), group)
