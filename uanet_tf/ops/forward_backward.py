"""Marginals of a linear-chain conditional random field, in log space."""

import tensorflow as tf

from uanet_tf.ops.permute import permute


def chain_marginals(scores: tf.Tensor, transitions: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Returns the probability of each label at each token, over all label sequences.

    A sequence y has the weight exp(sum_t scores[t, y_t] + sum_t transitions[y_t, y_{t+1}]).
    The caller adds scores of starting and ending to those of the first and last token.

    Forward and backward recursions are the same one: the second reads the sentences from
    their ends and the transitions transposed, so both run as one loop over 2N rows.

    Args:
      scores: [N, T, C] floats; ignored at padding.
      transitions: [C, C] floats, from the row's label to the column's. Impossible ones should
        be large and negative but finite.
      mask: [N, T] booleans, right-padded, True = token.

    Returns:
      [N, T, C] floats, each row summing to 1; uniform at padding.

    Reference:
      Rabiner, 1989, "A Tutorial on Hidden Markov Models", section III; Lafferty et al., 2001,
      "Conditional Random Fields".
    """
    lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)  # [N]
    scores = tf.where(tf.expand_dims(mask, -1), scores, 0.0)
    both = tf.stack([scores, tf.reverse_sequence(scores, lengths, seq_axis=1)])  # [2, N, T, C]
    tables = tf.stack([transitions, tf.transpose(transitions)])  # [2, C, C]
    alphas = _recursion(permute(both, [2, 0, 1, 3]), tables)  # [T, 2, N, C]
    alphas = permute(alphas, [1, 2, 0, 3])  # [2, N, T, C]
    forward, backward = alphas[0], tf.reverse_sequence(alphas[1], lengths, seq_axis=1)
    # Each direction holds the token's own score; the softmax divides by the partition function.
    logits = forward + backward - scores
    return tf.nn.softmax(tf.where(tf.expand_dims(mask, -1), logits, 0.0))


def _recursion(scores: tf.Tensor, tables: tf.Tensor) -> tf.Tensor:
    """Log weight of all prefixes that end in a label, [T, 2, N, C], minus one number per prefix.

    The numbers are such that the largest of a row is 0, so that long sentences lose no precision.
    """
    steps, width = tf.shape(scores)[0], tables.shape[-1]
    shape = [2, scores.shape[2], width]
    results = tf.TensorArray(scores.dtype, steps, element_shape=shape)
    tables = tf.expand_dims(tables, 1)  # [2, 1, C, C]

    def step(t, before, results):
        reached = tf.reduce_logsumexp(tf.expand_dims(before, -1) + tables, axis=2)  # [2, N, C]
        now = scores[t] + tf.where(t > 0, reached, tf.zeros_like(reached))
        # Any number works, so no gradient goes through it.
        now -= tf.stop_gradient(tf.reduce_max(now, axis=-1, keepdims=True))
        return t + 1, now, results.write(t, now)

    zeros = tf.zeros([2, tf.shape(scores)[2], width], scores.dtype)
    *_, results = tf.while_loop(
        lambda t, *_: t < steps,
        step,
        (0, zeros, results),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(shape), None),
    )
    return results.stack()
