"""Relative attention of some tokens of one sentence."""

import tensorflow as tf

from uanet_tf.attention.attended_context import AttendedContext
from uanet_tf.attention.query_tokens import QueryTokens
from uanet_tf.ops.masking import has_others, key_bias, self_bias
from uanet_tf.ops.permute import permute
from uanet_tf.ops.shapes import reshape, sizes


def sentence_attention(
    content_queries: tf.Tensor,
    position_queries: tf.Tensor,
    attended: AttendedContext,
    query_tokens: QueryTokens,
    *,
    exclude_self: bool = False,
) -> tf.Tensor:
    """Returns what K tokens get from all tokens of their sentence.

    As ``query_attention``, by operations whose sizes TensorFlow Lite knows before it runs them:
    it plans its memory anew behind each of the others.

    Args:
      content_queries, position_queries: [h, K, d] floats, q and p, divided by the square root
        of d.
      attended: c, R, W_k, W_v and b_v, of one sentence.
      query_tokens: the K tokens, of one sentence.
      exclude_self: whether a token gives itself no weight; where it is alone its output is 0.

    Returns:
      [K, h * d] floats.
    """
    context, positions, key_kernel, value_kernel, value_bias, mask = attended
    num_heads, _, head_width = sizes(content_queries)
    context_width = context.shape[2]
    # Of the query tokens, and not of each stream's context: so the streams share what follows.
    length, query_positions = query_tokens.sentence_length, query_tokens.own_positions

    def of_heads(kernel):
        return permute(reshape(kernel, [context_width, num_heads, head_width]), [1, 0, 2])

    asked = tf.matmul(content_queries, of_heads(key_kernel), transpose_b=True)  # [h, K, D]
    scores = tf.matmul(asked, context, transpose_b=True)  # [h, K, T]
    scores += _position_scores(position_queries, positions, query_positions, length)
    if exclude_self:
        scores += self_bias(length, scores.dtype, tf.expand_dims(query_positions, 0))  # [1, K, T]
    if mask is not None:
        scores += key_bias(mask, scores.dtype)  # [1, 1, T]
    means = tf.matmul(tf.nn.softmax(scores), context)  # [h, K, D]
    outputs = permute(tf.matmul(means, of_heads(value_kernel)), [1, 0, 2])  # [K, h, d]
    outputs = reshape(outputs, [sizes(outputs)[0], num_heads * head_width])
    if value_bias is not None:
        outputs += value_bias
    if exclude_self:
        others = has_others(mask, length, outputs.dtype)
        outputs *= tf.reshape(others, [1, 1])
    return outputs


def _position_scores(queries, positions, query_positions, length) -> tf.Tensor:
    """p_i . R_{i-j} for each query i and all keys j, [h, K, T]."""
    num_heads, _, head_width = sizes(queries)
    keys = tf.reshape(positions, [num_heads, head_width, -1])
    by_distance = tf.matmul(queries, keys)  # [h, K, 2T]
    # The columns of the distances i - j.
    columns = tf.range(length) - tf.expand_dims(query_positions, -1) + length - 1  # [K, T]
    columns = tf.tile(tf.expand_dims(columns, 0), [num_heads, 1, 1])
    return tf.gather(by_distance, columns, batch_dims=2)
