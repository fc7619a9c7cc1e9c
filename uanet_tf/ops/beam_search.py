"""Left-to-right (or right-to-left) search where a label's score depends on the labels before it."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

# Log weight of a beam that does not exist yet; finite, so that sums with it stay finite.
DEAD = -1e30

Step = Callable[[tf.Tensor, tf.Tensor, Any], tuple[tf.Tensor, Any]]


def beam_search(
    step: Step,
    state: tf.Tensor,
    mask: tf.Tensor,
    *,
    num_classes: int,
    beam_width: int = 1,
    reverse: bool = False,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Finds the label sequence of each sentence with the largest sum of log probabilities.

    The best ``beam_width`` beginnings are kept at each token: one is greedy search, and
    C^(T-1) or more of them find the exact maximum. At padding beams stay as they are.

    Args:
      step: maps (t, previous labels [B, K] int32, state) to log probabilities [B, K, C] of
        the label at position t, and the new state. The previous label of the first token is
        ``num_classes``.
      state: [B, 1, ...] floats, what ``step`` reads before the first token.
      mask: [B, T] booleans, right-padded, True = token.
      num_classes: number C of labels.
      beam_width: number K of beginnings kept.
      reverse: search from the last token to the first.

    Returns:
      labels [B, T] int32, 0 at padding, and their sums of log probabilities [B].

    Reference:
      Graves, 2012, "Sequence Transduction with Recurrent Neural Networks", section 3.
    """
    batch, steps = tf.shape(mask)[0], tf.shape(mask)[1]
    state = tf.repeat(state, beam_width, axis=1)  # [B, K, ...]
    first = tf.concat([[0.0], tf.fill([beam_width - 1], DEAD)], axis=0)

    def advance(count, totals, labels, history, state):
        t = steps - 1 - count if reverse else count
        log_probs, new_state = step(t, labels, state)
        sums = tf.expand_dims(totals, -1) + tf.cast(log_probs, totals.dtype)  # [B, K, C]
        new_totals, chosen = tf.math.top_k(
            tf.reshape(sums, [batch, beam_width * num_classes]), beam_width
        )
        parents, new_labels = chosen // num_classes, chosen % num_classes  # [B, K]
        new_state = tf.gather(new_state, parents, batch_dims=1)
        here = tf.range(steps) == t  # [T]
        new_history = tf.where(
            here, tf.expand_dims(new_labels, -1), tf.gather(history, parents, batch_dims=1)
        )

        is_token = tf.expand_dims(mask[:, t], 1)  # [B, 1]
        deep = tf.reshape(
            is_token, tf.concat([[batch], tf.ones([tf.rank(state) - 1], tf.int32)], 0)
        )
        return (
            count + 1,
            tf.where(is_token, new_totals, totals),
            tf.where(is_token, new_labels, labels),
            tf.where(tf.expand_dims(is_token, -1), new_history, history),
            tf.where(deep, new_state, state),
        )

    _, totals, _, history, _ = tf.while_loop(
        lambda count, *_: count < steps,
        advance,
        (
            0,
            tf.tile(tf.expand_dims(first, 0), [batch, 1]),
            tf.fill([batch, beam_width], num_classes),
            tf.zeros([batch, beam_width, steps], tf.int32),
            state,
        ),
        shape_invariants=(
            tf.TensorShape([]),
            tf.TensorShape([None, beam_width]),
            tf.TensorShape([None, beam_width]),
            tf.TensorShape([None, beam_width, None]),
            tf.TensorShape([None, beam_width, *state.shape[2:]]),
        ),
    )
    # The best one comes first.
    return history[:, 0], totals[:, 0]
