"""Likelihood and best sequence of a linear-chain conditional random field.

Names, arguments and results are those of ``tensorflow_addons.text``, which does not exist for
TensorFlow 2.16 and later: there these are used instead.
"""

import tensorflow as tf

from uanet_tf.ops.permute import permute
from uanet_tf.ops.viterbi import best_scored_path


def crf_log_likelihood(
    inputs: tf.Tensor,
    tag_indices: tf.Tensor,
    sequence_lengths: tf.Tensor,
    transition_params: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Log probability of given label sequences among all sequences of their length.

    Args:
      inputs: [N, T, C] floats, scores of labels at tokens; ignored at padding.
      tag_indices: [N, T] integers, the sequences.
      sequence_lengths: [N] integers.
      transition_params: [C, C] floats, from the row's label to the column's.

    Returns:
      [N] nats, 0 for a sentence without tokens; and the transitions, as given.

    Reference:
      Lafferty et al., 2001, "Conditional Random Fields".
    """
    mask = tf.sequence_mask(sequence_lengths, tf.shape(inputs)[1])  # [N, T]
    scores = tf.where(tf.expand_dims(mask, -1), inputs, tf.zeros([], inputs.dtype))
    transitions = tf.cast(transition_params, scores.dtype)
    given = _sequence_scores(scores, tag_indices, mask, transitions)
    likelihood = given - _log_partition(scores, mask, transitions)
    return tf.where(mask[:, 0], likelihood, tf.zeros_like(likelihood)), transitions


def crf_decode(
    potentials: tf.Tensor, transition_params: tf.Tensor, sequence_length: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """The best label sequence of each sentence (Viterbi).

    Args:
      potentials: [N, T, C] floats, scores of labels at tokens.
      transition_params: [C, C] floats, from the row's label to the column's.
      sequence_length: [N] integers.

    Returns:
      [N, T] int32 labels, 0 at padding; [N] their scores.
    """
    mask = tf.sequence_mask(sequence_length, tf.shape(potentials)[1])
    zeros = tf.zeros_like(transition_params[0])
    path, score = best_scored_path(potentials, mask, zeros, transition_params, zeros)
    return tf.where(mask, path, 0), score


def _sequence_scores(
    scores: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor, transitions: tf.Tensor
) -> tf.Tensor:
    """Scores [N] of the given sequences."""
    labels = tf.where(mask, tf.cast(labels, tf.int32), 0)
    single = tf.gather(scores, labels, axis=2, batch_dims=2)  # [N, T], 0 at padding
    pairs = tf.gather_nd(transitions, tf.stack([labels[:, :-1], labels[:, 1:]], axis=-1))
    pairs = tf.where(mask[:, 1:], pairs, tf.zeros_like(pairs))  # [N, T - 1]
    return tf.reduce_sum(single, axis=1) + tf.reduce_sum(pairs, axis=1)


def _log_partition(scores: tf.Tensor, mask: tf.Tensor, transitions: tf.Tensor) -> tf.Tensor:
    """Log of the summed weights of all sequences, [N]."""
    columns, used = permute(scores, [1, 0, 2]), tf.transpose(mask)

    def step(t, weights):
        through = tf.expand_dims(weights, 2) + transitions  # [N, C, C]
        reached = columns[t] + tf.reduce_logsumexp(through, axis=1)  # [N, C]
        return t + 1, tf.where(tf.expand_dims(used[t], 1), reached, weights)

    length = tf.shape(columns)[0]
    _, weights = tf.while_loop(lambda t, _: t < length, step, [1, columns[0]])
    return tf.reduce_logsumexp(weights, axis=1)
