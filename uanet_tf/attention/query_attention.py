"""Relative attention of some tokens of a batch, without keys and values of the others."""

import tensorflow as tf

from uanet_tf.attention.attended_context import AttendedContext
from uanet_tf.attention.query_tokens import QueryTokens
from uanet_tf.ops.masking import has_others, key_bias, self_bias
from uanet_tf.ops.query_blocks import in_query_blocks, queries_of
from uanet_tf.ops.relative_attention import position_scores_of
from uanet_tf.ops.shapes import reshape, sizes


def query_attention(
    content_queries: tf.Tensor,
    position_queries: tf.Tensor,
    attended: AttendedContext,
    query_tokens: QueryTokens,
    *,
    exclude_self: bool = False,
) -> tf.Tensor:
    """Returns what K tokens get from all tokens of their sentences.

        A_ij = q_i . (c_j W_k) + p_i . R_{i-j} = (q_i W_k^T) . c_j + p_i . R_{i-j}
        output_i = (sum_j softmax_j(A_ij) c_j) W_v + b_v

    So both kernels are used once for each query and head, and not once for each token. What a
    query and a key score beside this, c_j against d numbers, is little while few are queries.
    A bias of the keys would be the same for all keys of a query, and changes no weight.

    Args:
      content_queries, position_queries: [K, h, d] floats, q and p, divided by the square root
        of d.
      attended: c, R, W_k, W_v and b_v.
      query_tokens: the K tokens.
      exclude_self: whether a token gives itself no weight; where it is alone its output is 0.

    Returns:
      [K, h * d] floats.
    """
    context, positions, key_kernel, value_kernel, value_bias, mask = attended
    _, num_heads, head_width = sizes(content_queries)
    batch, length, context_width = sizes(context)

    def of_heads(kernel):
        return reshape(kernel, [context_width, num_heads, head_width])

    asked = _joined(tf.einsum("khd,chd->khc", content_queries, of_heads(key_kernel)))

    def by_position(count, places, own_positions):
        """The scores by position of the queries at ``places`` [B, Q], [B, Q, h * T]."""
        if count is None:  # of the K rows, without the fillers of the block
            rows = position_scores_of(position_queries, positions, query_tokens.own_positions)
            return tf.gather(_joined(rows), places)
        rows = tf.gather(position_queries, tf.reshape(places, [-1]))
        rows = position_scores_of(rows, positions, tf.reshape(own_positions, [-1]))
        return tf.reshape(rows, [batch, -1, num_heads * length])

    def attend(first, count):
        places = queries_of(query_tokens.places, 1, first, count)  # [B, Q]
        own_positions = queries_of(query_tokens.positions, 1, first, count)
        # All heads have the same keys, c, so they are further queries: [B, Q * h, T].
        scores = tf.reshape(by_position(count, places, own_positions), [batch, -1, length])
        queries = tf.reshape(tf.gather(asked, places), [batch, -1, context_width])
        scores += tf.einsum("bqc,btc->bqt", queries, context)
        if exclude_self:
            own = self_bias(length, scores.dtype, own_positions)  # [B, Q, T]
            scores += tf.repeat(own, num_heads, axis=1)
        if mask is not None:
            scores += key_bias(mask, scores.dtype)
        means = tf.einsum("bqt,btc->bqc", tf.nn.softmax(scores), context)
        return tf.reshape(means, [batch, -1, num_heads * context_width])

    means = in_query_blocks(
        attend,
        tf.shape(query_tokens.places)[1],
        num_heads * context_width,
        context.dtype,
        cells_per_query=num_heads * batch * tf.maximum(length, context_width),
    )
    means = tf.reshape(query_tokens.unblock(means), [-1, num_heads, context_width])
    outputs = _joined(tf.einsum("khc,chd->khd", means, of_heads(value_kernel)))
    if value_bias is not None:
        outputs += value_bias
    if exclude_self:
        outputs *= _have_others(mask, length, outputs.dtype, query_tokens)
    return outputs


def _have_others(mask, length, dtype, query_tokens: QueryTokens) -> tf.Tensor:
    """1 where the sentence has another token, else 0: [K, 1], or a scalar without a mask."""
    others = has_others(mask, length, dtype)  # [B, 1, 1], or a scalar
    if mask is None:
        return others
    return tf.gather(others[:, 0], query_tokens.tokens // length)


def _joined(inputs: tf.Tensor) -> tf.Tensor:
    """The heads of [K, h, D] side by side: [K, h * D]."""
    count, num_heads, width = sizes(inputs)
    return reshape(inputs, [count, num_heads * width])
