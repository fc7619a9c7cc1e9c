"""Adaptive sampling: Monte Carlo samples only where they can still change something.

A pass without dropout comes first. A sentence whose tokens are all settled stops there: each is
so certain that the gate stays shut, or so uncertain that it opens. The others are sampled in
steps, a quarter of the samples, half of them, all of them, and stop at the first step at which all
their tokens are settled. Which entropies count as settled is chosen on the development set (see
``training.adaptive_limits``). Sentences do not see one another, and sample j is the same
network for each of them, so an answer does not depend on the batch.
"""

import itertools
from typing import NamedTuple

import tensorflow as tf

from uanet_tf.decoders.softmax import SoftmaxDecoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.inference.monte_carlo import encode_samples
from uanet_tf.ops.entropy import entropy

NUM_CHECKPOINTS = 3


def checkpoints(num_samples: int) -> list[int]:
    """Samples seen at each checkpoint, a quarter and half of M after none, and all M at last."""
    return [0, max(1, num_samples // 4), max(1, num_samples // 2), num_samples]


def settled(uncertainty: tf.Tensor, limits: tf.Tensor) -> tf.Tensor:
    """Whether more samples would change neither gate nor label: [B, T] booleans.

    Args:
      uncertainty: [B, T] nats, from the samples so far.
      limits: [..., 2] nats: at or below the first a token is certain, at or above the second
        it is uncertain; one pair for all, or one per sentence, [B, 1, 2].
    """
    return (uncertainty <= limits[..., 0]) | (uncertainty >= limits[..., 1])


class AdaptiveDraft(NamedTuple):
    """What the samples used say.

    Attributes:
      label_ids: [B, T] int32, 0 at padding.
      probabilities: [B, T, C], the mean p of the samples used.
      uncertainty: [B, T], u in nats, 0 at padding.
      samples_used: [B] int32, 0 where the pass without dropout was enough.
      states: [B, T, H], the mean of the samples used; None if not wanted.
    """

    label_ids: tf.Tensor
    probabilities: tf.Tensor
    uncertainty: tf.Tensor
    samples_used: tf.Tensor
    states: tf.Tensor | None


def adaptive_draft(
    encoder: Encoder,
    decoder: SoftmaxDecoder,
    inputs: tf.Tensor,
    mask: tf.Tensor,
    *,
    limits: tf.Tensor,
    num_samples: int,
    seed: tf.Tensor,
    keep_states: bool = False,
) -> AdaptiveDraft:
    """Draft distributions from as many samples as each sentence needs.

    Args:
      encoder: any Encoder that draws masks.
      decoder: the draft's head.
      inputs: [B, T, D] word vectors.
      mask: [B, T] boolean.
      limits: [S, 2], or [S, B, 1, 2], what counts as settled at each checkpoint; see ``settled``.
      num_samples: M, the most samples.
      seed: [2] int32 seed of the masks.
      keep_states: whether the mean states are wanted.

    Returns:
      AdaptiveDraft.
    """
    drawn = encoder.draw_masks(seed, num_samples, inputs.shape[-1])
    plain = encoder(inputs, mask=mask)
    p = decoder.decide(tf.expand_dims(plain, 0), mask).probabilities
    u = entropy(p)
    means = [p, plain] if keep_states else [p]
    totals = [tf.zeros_like(mean) for mean in means]  # of the samples so far
    used = tf.zeros(tf.shape(p)[:1], tf.int32)
    unsettled = tf.reduce_any(mask & ~settled(u, limits[0]), axis=1)  # [B]
    steps = checkpoints(num_samples)
    for number, (first, last) in enumerate(itertools.pairwise(steps), 1):
        if first == last:  # fewer samples than checkpoints
            continue
        masks = {name: rows[first:last] for name, rows in drawn.items()}
        rows = tf.where(unsettled)  # [R, 1]

        def sampled(rows=rows, masks=masks, count=last - first, totals=totals):
            part_mask = tf.gather_nd(mask, rows)
            states = encode_samples(encoder, tf.gather_nd(inputs, rows), part_mask, masks, count)
            kinds = [decoder.decide(states, part_mask).samples, states]
            return [
                tf.tensor_scatter_nd_add(total, rows, tf.reduce_sum(samples, axis=0))
                for total, samples in zip(totals, kinds, strict=False)
            ]

        totals = tf.cond(tf.size(rows) > 0, sampled, lambda totals=totals: totals)
        means = [
            tf.where(unsettled[:, tf.newaxis, tf.newaxis], total / last, mean)
            for total, mean in zip(totals, means, strict=True)
        ]
        u = tf.where(unsettled[:, tf.newaxis], entropy(means[0]), u)
        used = tf.where(unsettled, last, used)
        if last < num_samples:
            unsettled &= tf.reduce_any(mask & ~settled(u, limits[number]), axis=1)
    p = means[0]
    return AdaptiveDraft(
        label_ids=tf.where(mask, tf.argmax(p, axis=-1, output_type=tf.int32), 0),
        probabilities=p,
        uncertainty=tf.where(mask, u, 0.0),
        samples_used=used,
        states=means[1] if keep_states else None,
    )
