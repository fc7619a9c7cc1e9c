"""Relative attention of several streams at once (Eq. 7)."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.attention.projected_heads import ProjectedHeads
from uanet_tf.ops.dropout import dropout
from uanet_tf.ops.masking import has_others, self_bias
from uanet_tf.ops.query_blocks import in_query_blocks, queries_of
from uanet_tf.ops.relative_attention import attend, merge_heads, position_scores


def attend_in_parallel(
    streams: Sequence[ProjectedHeads], positions: tf.Tensor, mask: tf.Tensor | None = None
) -> list[tf.Tensor]:
    """Returns what the tokens of each stream get from all tokens of their sentences.

        A_ij = ((q_i + u) . k_j + (q_i + v) . R_{i-j}) / sqrt(d)
        output_i = sum_j softmax_j(A_ij) values_j

    The heads of all S streams are heads of one attention. A sentence by itself is so small that
    each product takes the time of its start, whether it is of one stream or of all.

    Args:
      streams: all of the same sizes.
      positions: [h * d, 2T] floats, a column R for each distance from T - 1 down to -T.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.

    Returns:
      Of each stream [B, T, h * d] floats.
    """
    head_width, num_heads = streams[0].queries.shape[-1], streams[0].queries.shape[0]
    width = num_heads * head_width
    length = tf.shape(positions)[1] // 2
    queries = _joined([stream.queries for stream in streams])  # [S * h, B, T, d]
    keys = _joined([stream.keys for stream in streams])
    values = _joined([_values(stream, mask, length) for stream in streams])
    bias_shape = [-1, 1, 1, head_width]
    content_bias = tf.reshape(_joined([stream.content_bias for stream in streams]), bias_shape)
    position_bias = tf.reshape(_joined([stream.position_bias for stream in streams]), bias_shape)
    scale = head_width**-0.5
    positions = _joined([positions * scale] * len(streams))  # the streams share them

    drops = any(stream.dropout_seed is not None for stream in streams)

    def drop(weights: tf.Tensor) -> tf.Tensor:
        if not drops:
            return weights
        parts = tf.split(weights, len(streams))
        return _joined(
            [
                dropout(part, stream.dropout, stream.dropout_seed, axis=1)
                for part, stream in zip(parts, streams, strict=True)
            ]
        )

    def attend_some(first, count):
        asked = queries_of(queries, 2, first, count)  # [S * h, B, Q, d]
        scores = position_scores(asked + position_bias, positions, first)  # [S * h, B, Q, T]
        scores += tf.matmul((asked + content_bias) * scale, keys, transpose_b=True)
        if any(stream.exclude_self for stream in streams):
            own_positions = tf.expand_dims(tf.range(first, first + tf.shape(asked)[2]), 0)
            own = self_bias(length, scores.dtype, own_positions)  # [1, Q, T]
            scores += own * _of_heads([stream.exclude_self for stream in streams], num_heads, own)
        return merge_heads(attend(scores, values, mask, drop))

    outputs = in_query_blocks(
        attend_some,
        length,
        len(streams) * width,
        queries.dtype,
        cells_per_query=2 * length * len(streams) * num_heads * tf.shape(queries)[1],
        whole=drops,
    )  # [B, T, S * h * d]
    return tf.split(outputs, len(streams), axis=-1) if len(streams) > 1 else [outputs]


def _joined(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    """The heads of all streams, one stream after the other, along the first axis."""
    return tf.concat(parts, axis=0) if len(parts) > 1 else parts[0]


def _values(stream: ProjectedHeads, mask: tf.Tensor | None, length: tf.Tensor) -> tf.Tensor:
    if not stream.exclude_self:
        return stream.values
    return stream.values * has_others(mask, length, stream.values.dtype)


def _of_heads(flags: Sequence[bool], num_heads: int, like: tf.Tensor) -> tf.Tensor | float:
    """1 for the heads of streams with the flag, else 0: [S * h, 1, 1, 1], or 1 for all."""
    if all(flags):
        return 1.0
    return tf.reshape(tf.repeat(tf.cast(flags, like.dtype), num_heads), [-1, 1, 1, 1])
