"""A batch shared among replicas: each has some of its sentences."""

from collections.abc import Mapping

import tensorflow as tf

from uanet_tf.ops.dropout import SENTENCES, PartSeed, Seed

# Features of a part, beside those of a batch: [3] int32, its first sentence, its sentences, those
# of the batch; and what the batch has of all sentences.
PART, BATCH_INDEX, BATCH_LENGTHS = "part", "batch_form_index", "batch_lengths"


def part_of_batch(
    features: Mapping[str, tf.Tensor], labels: tf.Tensor, number: tf.Tensor | int, parts: int
) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Part ``number`` of a batch: as many sentences as the others, or one more or less.

    It has the width T and the distinct forms of the batch. A part without a sentence gets one of
    another part, with ``part[1]`` = 0, which must not count.

    Args:
      features: of the batch, see ``BatchBuilder``.
      labels: [B, T].
      number: of the part, from 0.
      parts: how many there are.
    """
    total = tf.shape(labels)[0]
    number = tf.cast(number, tf.int32)
    first = number * total // parts
    count = (number + 1) * total // parts - first
    rows = tf.minimum(first + tf.range(tf.maximum(count, 1)), total - 1)
    part = {
        **features,
        "form_index": tf.gather(features["form_index"], rows),
        "lengths": tf.gather(features["lengths"], rows),
        BATCH_INDEX: features["form_index"],
        BATCH_LENGTHS: features["lengths"],
        PART: tf.stack([first, count, total]),
    }
    return part, tf.gather(labels, rows)


def part_seed(features: Mapping[str, tf.Tensor], seed: tf.Tensor) -> Seed:
    """The seed with which a part of a batch gets the masks that its sentences have in the batch.

    Args:
      features: of a batch or of a part of one.
      seed: [2] int32, of the batch.
    """
    if PART not in features:
        return seed
    first, count, total = tf.unstack(features[PART], num=3)
    # The one sentence of a part that has none.
    first, count = tf.minimum(first, total - 1), tf.maximum(count, 1)
    return PartSeed(seed, {SENTENCES: tf.stack([first, count, total])})
