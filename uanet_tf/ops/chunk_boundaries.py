"""Where chunks begin and end in a sequence of BIOES labels, valid or not."""

import tensorflow as tf

from uanet_tf.ops.masking import keep


def chunk_boundaries(
    types: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor, mask: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Reads chunks the way conlleval does: every token inside some chunk stays in one.

    A chunk begins at a token whose label starts one, or whose predecessor is outside, of
    another type, or ends one.

    Args:
      types: [B, T] int32 chunk type of each token, 0 outside.
      starts: [B, T] boolean, True for the prefixes B and S.
      ends: [B, T] boolean, True for the prefixes E and S.
      mask: [B, T] boolean.

    Returns:
      begins, finishes, touches: [B, T] booleans: the token is the first of its chunk; the
      last; its predecessor is in a chunk of the same type.
    """
    types = keep(mask, types)
    inside = types > 0
    before = tf.pad(types[:, :-1], [[0, 0], [1, 0]])  # outside before the first
    following = tf.pad(types[:, 1:], [[0, 0], [0, 1]])
    # No zeros_like: TensorFlow Lite cannot plan the memory of one of booleans.
    no = types[:, :1] < 0
    ended = tf.concat([no, ends[:, :-1]], axis=1)
    touches = inside & (before == types)
    begins = inside & (starts | ended | tf.logical_not(touches))
    begins_next = tf.concat([begins[:, 1:], no], axis=1)
    finishes = inside & ((following != types) | begins_next)
    return begins, finishes, touches
