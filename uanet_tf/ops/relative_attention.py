"""Multi-head attention with relative positions, as functions of tensors.

The axis of heads comes before the batch, [h, B, T, d]: so the scores by position, which share
their keys over the batch, are one large product per head instead of B small ones.
"""

from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.permute import permute
from uanet_tf.ops.relative_shift import relative_shift
from uanet_tf.ops.shapes import reshape, sizes


def split_heads(inputs: tf.Tensor, parts: int, num_heads: int) -> list[tf.Tensor]:
    """Splits [B, T, parts * h * d] into ``parts`` tensors [h, B, T, d] by one transposition."""
    batch, length, width = sizes(inputs)
    head_width = width // (parts * num_heads)
    split = reshape(inputs, [batch, length, parts * num_heads, head_width])
    heads = permute(split, [2, 0, 1, 3])  # [parts * h, B, T, d]
    # Not by indices: their gradients fill each part up with zeros, and add all.
    return tf.split(heads, parts) if parts > 1 else [heads]


def merge_heads(inputs: tf.Tensor) -> tf.Tensor:
    """Concatenates the heads of [h, B, T, d] to [B, T, h * d]."""
    num_heads, batch, length, head_width = sizes(inputs)
    merged = permute(inputs, [1, 2, 0, 3])  # [B, T, h, d]
    return reshape(merged, [batch, length, num_heads * head_width])


def position_scores(
    queries: tf.Tensor, positions: tf.Tensor, first: int | tf.Tensor = 0
) -> tf.Tensor:
    """Returns q_i . p_{i-j} for Q consecutive queries i and all keys j.

    Args:
      queries: [h, B, Q, d] floats.
      positions: [h * d, 2T] floats, a column p for each distance from T - 1 down to -T.
      first: position of the first of the queries, a scalar tensor; 0: all T are queries.

    Returns:
      [h, B, Q, T] floats.
    """
    num_heads, batch, count, head_width = sizes(queries)
    if tf.is_tensor(first):  # not all T
        length = tf.shape(positions)[1] // 2
        start = length - first - count
        positions = positions[:, start : start + count + length]  # distances that occur
    columns = tf.shape(positions)[1]
    keys = reshape(positions, [num_heads, head_width, columns])
    folded = reshape(queries, [num_heads, batch * count, head_width])
    scores = tf.matmul(folded, keys)  # [h, B * Q, 2T], or [h, B * Q, Q + T]
    if queries.shape[1] == 1:
        scores = tf.expand_dims(scores, 1)
    else:
        scores = tf.reshape(scores, [num_heads, batch, count, columns])
    return relative_shift(scores)


def position_scores_of(
    queries: tf.Tensor, positions: tf.Tensor, query_positions: tf.Tensor
) -> tf.Tensor:
    """The same for K queries of any sentences of T tokens.

    Args:
      queries: [K, h, d] floats.
      positions: [h * d, 2T] floats, a column p for each distance from T - 1 down to -T.
      query_positions: [K] int32, the position i of each query.

    Returns:
      [K, h, T] floats.
    """
    _, num_heads, head_width = sizes(queries)
    length = tf.shape(positions)[1] // 2
    keys = reshape(positions, [num_heads, head_width, tf.shape(positions)[1]])
    # The columns of the distances i - j for all keys j.
    columns = tf.range(length) - tf.expand_dims(query_positions, -1) + length - 1  # [K, T]
    columns = tf.tile(tf.expand_dims(columns, 1), [1, num_heads, 1])
    return tf.gather(tf.einsum("khd,hdp->khp", queries, keys), columns, batch_dims=2)


def attend(
    scores: tf.Tensor,
    values: tf.Tensor,
    mask: tf.Tensor | None,
    drop: Callable[[tf.Tensor], tf.Tensor],
) -> tf.Tensor:
    """Returns the means of ``values`` weighted by the softmax of ``scores`` over keys.

    Args:
      scores: [h, B, queries, T] floats.
      values: [h, B, T, d] floats.
      mask: [B, T] booleans, True = token; padding keys get no weight. None: no padding.
      drop: what drops weights, of the shape of ``scores``.

    Returns:
      [h, B, queries, d] floats.
    """
    if mask is not None:
        scores += key_bias(mask, scores.dtype)
    return tf.matmul(drop(tf.nn.softmax(scores)), values)
