"""The gate: the refined label where the draft is uncertain, the draft elsewhere."""

import tensorflow as tf


def passes(uncertainty: tf.Tensor, threshold: float | tf.Tensor) -> tf.Tensor:
    """Whether u > Gamma, strictly: [B, T] booleans.

    Args:
      uncertainty: [B, T] nats.
      threshold: Gamma in nats, a scalar or one a sentence [B].
    """
    gamma = tf.convert_to_tensor(threshold, uncertainty.dtype)
    if gamma.shape.rank == 1:
        gamma = tf.expand_dims(gamma, -1)  # [B, 1]
    return uncertainty > gamma


def refinement_gate(
    draft: tf.Tensor,
    refined: tf.Tensor,
    uncertainty: tf.Tensor,
    threshold: float | tf.Tensor,
    mask: tf.Tensor,
) -> dict[str, tf.Tensor]:
    """Decides each token's label.

    label = argmax p_hat where u > Gamma (strictly), else argmax p.

    Args:
      draft: [B, T, C] mean draft distribution p.
      refined: [B, T, C] refined distribution p_hat.
      uncertainty: [B, T] nats.
      threshold: Gamma in nats, a scalar or one a sentence [B].
      mask: [B, T] boolean, True at tokens.

    Returns:
      label_ids, draft_label_ids, refined_label_ids [B, T] int32; refined [B, T] boolean,
      True where the refined label was taken; 0 and False at padding. probabilities
      [B, T, C], the distribution that each label comes from; the draft's at padding.
    """
    passed = passes(uncertainty, threshold) & mask
    draft_ids = tf.argmax(draft, axis=-1, output_type=tf.int32)
    refined_ids = tf.argmax(refined, axis=-1, output_type=tf.int32)
    return {
        "label_ids": tf.where(mask, tf.where(passed, refined_ids, draft_ids), 0),
        "draft_label_ids": tf.where(mask, draft_ids, 0),
        "refined_label_ids": tf.where(mask, refined_ids, 0),
        "refined": passed,
        "probabilities": tf.where(tf.expand_dims(passed, -1), refined, draft),
    }
