"""Multi-head attention with relative positions, as functions of tensors.

The axis of heads comes before the batch, [h, B, T, d]: so the scores by position, which share
their keys over the batch, are one large product per head instead of B small ones.
"""

import tensorflow as tf

from uanet_tf.ops.dropout import dropout
from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.part_seed import SENTENCES, Seed
from uanet_tf.ops.relative_shift import relative_shift


def split_heads(inputs: tf.Tensor, parts: int, num_heads: int) -> list[tf.Tensor]:
    """Splits [B, T, parts * h * d] into ``parts`` tensors [h, B, T, d] by one transposition."""
    shape = tf.shape(inputs)
    head_width = inputs.shape[-1] // (parts * num_heads)
    split = tf.reshape(inputs, [shape[0], shape[1], parts * num_heads, head_width])
    split = tf.transpose(split, [2, 0, 1, 3])  # [parts * h, B, T, d]
    split = tf.reshape(split, [parts, num_heads, shape[0], shape[1], head_width])
    return tf.unstack(split)


def merge_heads(inputs: tf.Tensor) -> tf.Tensor:
    """Concatenates the heads of [h, B, T, d] to [B, T, h * d]."""
    num_heads, head_width = inputs.shape[0], inputs.shape[3]
    shape = tf.shape(inputs)
    merged = tf.transpose(inputs, [1, 2, 0, 3])  # [B, T, h, d]
    return tf.reshape(merged, [shape[1], shape[2], num_heads * head_width])


def position_scores(
    queries: tf.Tensor,
    positions: tf.Tensor,
    query_positions: tf.Tensor | None = None,
    first: int | tf.Tensor = 0,
) -> tf.Tensor:
    """Returns q_i . p_{i-j} for all i, j.

    Args:
      queries: [h, B, Q, d] floats.
      positions: [h * d, 2T] floats, a column p for each distance from T - 1 down to -T.
      query_positions: [B, Q] int32, the position i of each query; None: consecutive.
      first: position of the first of consecutive queries, a scalar tensor; 0: all T are queries.

    Returns:
      [h, B, Q, T] floats.
    """
    num_heads, head_width = queries.shape[0], queries.shape[3]
    shape = tf.shape(queries)
    batch, count = shape[1], shape[2]
    length = tf.shape(positions)[1] // 2
    if query_positions is None and tf.is_tensor(first):  # not all T
        start = length - first - count
        positions = positions[:, start : start + count + length]  # distances that occur
    columns = tf.shape(positions)[1]
    keys = tf.reshape(positions, [num_heads, head_width, columns])
    folded = tf.reshape(queries, [num_heads, batch * count, head_width])
    scores = tf.matmul(folded, keys)  # [h, B * Q, 2T], or [h, B * Q, Q + T]
    scores = tf.reshape(scores, [num_heads, batch, count, columns])
    if query_positions is None:
        return relative_shift(scores)
    distance = tf.range(length) - tf.expand_dims(query_positions, -1) + length - 1  # [B, Q, T]
    distance = tf.broadcast_to(distance, tf.concat([[num_heads], tf.shape(distance)], axis=0))
    return tf.gather(scores, distance, batch_dims=3)


def attend(
    scores: tf.Tensor,
    values: tf.Tensor,
    mask: tf.Tensor | None = None,
    dropout_rate: float = 0.0,
    dropout_seed: Seed | None = None,
    rows: str = SENTENCES,
) -> tf.Tensor:
    """Returns the means of ``values`` weighted by the softmax of ``scores`` over keys.

    Args:
      scores: [h, B, queries, T] floats.
      values: [h, B, T, d] floats.
      mask: [B, T] booleans, True = token; padding keys get no weight.
      dropout_rate: rate at which weights are dropped.
      dropout_seed: [2] int32 tensor, or None for no dropout.
      rows: what the B rows stand for, see ``PartSeed``.

    Returns:
      [h, B, queries, d] floats.
    """
    if mask is not None:
        scores += key_bias(mask, scores.dtype)
    weights = dropout(tf.nn.softmax(scores), dropout_rate, dropout_seed, rows=rows, axis=1)
    return tf.matmul(weights, values)
