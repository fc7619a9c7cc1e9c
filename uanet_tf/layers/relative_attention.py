"""Multi-head attention by content and relative position (Eq. 7)."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.ops.attention import (
    attend,
    in_query_blocks,
    merge_heads,
    position_scores,
    position_scores_of,
    queries_of,
    split_heads,
)
from uanet_tf.ops.dropout import Seed, dropout
from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import fill_rows, reshape, sizes


class ProjectedHeads(NamedTuple):
    """What a stream attends with: h heads of d numbers for each of T tokens.

    Attributes:
      queries, keys, values: [h, B, T, d] floats.
      content_bias, position_bias: [h * d] floats, u and v.
      dropout: rate at which attention weights are dropped.
      dropout_seed: [2] int32 tensor, or None for no dropout.
    """

    queries: tf.Tensor
    keys: tf.Tensor
    values: tf.Tensor
    content_bias: tf.Tensor
    position_bias: tf.Tensor
    dropout: float = 0.0
    dropout_seed: Seed | None = None


class AttendedContext(NamedTuple):
    """The T tokens of each of B sentences, as keys and values of h heads of d numbers.

    Attributes:
      vectors: [B, T, D] floats, c.
      positions: [h * d, 2T] floats, a column R for each distance from T - 1 down to -T.
      key_kernel, value_kernel: [D, h * d] floats, W_k and W_v of all heads.
      value_bias: [h * d] floats, b_v, or None.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.
    """

    vectors: tf.Tensor
    positions: tf.Tensor
    key_kernel: tf.Tensor
    value_kernel: tf.Tensor
    value_bias: tf.Tensor | None
    mask: tf.Tensor | None


class QueryTokens(NamedTuple):
    """K tokens of a batch, at most Q of a sentence.

    Attention needs them as a block, sentence by sentence, with fillers where a sentence has fewer
    than Q. All else is computed for each token by itself, so K rows are enough there. The first
    of all tokens may follow them, again and again, for K to be a multiple.

    Attributes:
      positions: [B, Q] int32, their positions in the sentence; fillers are other positions.
      places: [B, Q] int32, which of the K rows each is; fillers are any row.
      slots: [K] int32, where the rows stand among the B * Q.
      tokens: [K] int32, where they stand among the B * T tokens: by sentence, then by position.
      own_positions: [K] int32, their positions in the sentence.
      sentence_length: T, where the batch is one sentence and nothing fills up, so that K is Q;
        else None.
    """

    positions: tf.Tensor
    places: tf.Tensor
    slots: tf.Tensor
    tokens: tf.Tensor
    own_positions: tf.Tensor
    sentence_length: tf.Tensor | None = None

    @classmethod
    def of_mask(cls, wanted: tf.Tensor, multiple: int | tf.Tensor = 1) -> "QueryTokens":
        """The tokens that are True in ``wanted`` [B, T]; K is a multiple."""
        counts = tf.reduce_sum(tf.cast(wanted, tf.int32), axis=1)
        most = tf.reduce_max(counts)  # Q
        # Among equals top_k takes the leftmost: wanted tokens in order, then fillers.
        positions = tf.math.top_k(tf.cast(wanted, tf.int32), k=most).indices
        slots = _indices(tf.sequence_mask(counts, most))
        tokens = _indices(wanted)
        first = tf.cumsum(counts, exclusive=True)[:, tf.newaxis]  # [B, 1]
        places = tf.minimum(first + tf.range(most), tf.size(tokens) - 1)
        tokens = fill_rows(tokens, multiple)
        own = tokens % tf.shape(wanted)[1]
        return cls(positions, places, fill_rows(slots, multiple), tokens, own)

    @classmethod
    def of_sentence(cls, wanted: tf.Tensor) -> "QueryTokens":
        """The tokens that are True in ``wanted`` [1, T], of one sentence: K is Q."""
        tokens = _indices(wanted)
        places = tf.range(tf.size(tokens))
        length = tf.shape(wanted)[1]
        return cls(tokens[tf.newaxis], places[tf.newaxis], places, tokens, tokens, length)

    def rows(self, inputs: tf.Tensor) -> tf.Tensor:
        """Their rows [K, D] of ``inputs`` [B, T, D]."""
        return tf.gather(tf.reshape(inputs, [-1, inputs.shape[-1]]), self.tokens)

    def unblock(self, block: tf.Tensor) -> tf.Tensor:
        """The rows [K, D] of a ``block`` [B, Q, D], without the fillers."""
        return tf.gather(tf.reshape(block, [-1, block.shape[-1]]), self.slots)


def rows_with_queries(wanted: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The sentences that have wanted tokens; one with many of them several times, each with some.

    Attention takes its queries as a block, as wide as the sentence with the most of them has. With
    the usual number of queries in a row, few places of the block are fillers.

    Args:
      wanted: [B, T] booleans.

    Returns:
      rows: [R] int32, in order; of a batch without wanted tokens none.
      wanted: [R, T] booleans, the wanted tokens of each row: all of the batch's, in order.
    """
    counts = tf.reduce_sum(tf.cast(wanted, tf.int32), axis=1)  # [B]
    asking = tf.math.count_nonzero(counts, dtype=tf.int32)
    # Half as many again as the mean: the block has half the places, for a seventh more rows.
    most = tf.maximum(2, -(-3 * tf.reduce_sum(counts) // tf.maximum(2 * asking, 1)))
    parts = -(-counts // most)
    rows = tf.repeat(tf.range(tf.size(parts)), parts)  # [R]
    part = tf.range(tf.size(rows)) - tf.gather(tf.cumsum(parts, exclusive=True), rows)
    wanted = tf.gather(wanted, rows)
    rank = tf.cumsum(tf.cast(wanted, tf.int32), axis=1) - 1
    return rows, wanted & (rank // most == tf.expand_dims(part, -1))


def _indices(mask: tf.Tensor) -> tf.Tensor:
    """Where the elements of a boolean matrix, row after row, are True."""
    return tf.cast(tf.where(tf.reshape(mask, [-1]))[:, 0], tf.int32)


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
    values = _joined([stream.values for stream in streams])
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


def query_attention(
    content_queries: tf.Tensor,
    position_queries: tf.Tensor,
    attended: AttendedContext,
    query_tokens: QueryTokens,
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

    Returns:
      [K, h * d] floats.
    """
    context, positions, key_kernel, value_kernel, value_bias, mask = attended
    _, num_heads, head_width = sizes(content_queries)
    batch, length, context_width = sizes(context)

    def of_heads(kernel):
        return reshape(kernel, [context_width, num_heads, head_width])

    asked = _side_by_side(tf.einsum("khd,chd->khc", content_queries, of_heads(key_kernel)))

    def by_position(count, places, own_positions):
        """The scores by position of the queries at ``places`` [B, Q], [B, Q, h * T]."""
        if count is None:  # of the K rows, without the fillers of the block
            rows = position_scores_of(position_queries, positions, query_tokens.own_positions)
            return tf.gather(_side_by_side(rows), places)
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
    outputs = _side_by_side(tf.einsum("khc,chd->khd", means, of_heads(value_kernel)))
    if value_bias is not None:
        outputs += value_bias
    return outputs


def _side_by_side(inputs: tf.Tensor) -> tf.Tensor:
    """The heads of [K, h, D] side by side: [K, h * D]."""
    count, num_heads, width = sizes(inputs)
    return reshape(inputs, [count, num_heads * width])


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class RelativeAttention(tf.keras.layers.Layer):
    """Attention of words to words, or of words to a second sequence, with relative positions.

    For each head, with queries from the words x and keys and values from the words or from
    a second sequence c of the same length:

        A_ij = ((q_i + u) . k_j + (q_i + v) . (W_kR R_{i-j})) / sqrt(head_width)
        output_i = sum_j softmax_j(A_ij) values_j

    The position keys W_kR R are an argument of the call and not of this layer, because the
    streams of a block share them. The heads' outputs are concatenated, not projected.

    Args:
      num_heads: number of heads.
      head_width: width of each head.
      context_width: width of the second sequence. None: words attend to words, and their
        queries, keys and values come from one product.
      dropout: rate at which attention weights are dropped.
      **kwargs: `name` and `dtype`.

    Call arguments:
      words: [B, T, D] floats, or [K, D] of the query tokens.
      positions: [num_heads * head_width, 2T] floats, W_kR R with a column for each distance
        from T - 1 down to -T (see `uanet_tf.ops.attention.relative_sinusoid`).
      context: [B, T, context_width] floats. Left out where `context_width` is None, except with
        query tokens: there it is all the words.
      context_map: a kernel [C, context_width] and a bias [context_width]: then `context` is
        [B, T, C], of which the linear map is attended to. Fewer operations than to compute it
        beforehand, since the kernel is projected and not the B * T tokens.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.
      dropout_seed: [2] int32 tensor, or None for no dropout. Not with `query_tokens`.
      query_tokens: `QueryTokens`, K in number; all tokens are keys. None: all tokens.

    Output shape:
      [B, T, num_heads * head_width], or [K, num_heads * head_width].

    Example:

    >>> attention = RelativeAttention(2, 8)
    >>> attention(tf.ones([3, 5, 20]), tf.ones([16, 10])).shape
    TensorShape([3, 5, 16])

    Reference:
      Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling", Eq. 7;
      Dai et al., 2019, "Transformer-XL", for attention of words to words.
    """

    def __init__(
        self,
        num_heads: int,
        head_width: int,
        *,
        context_width: int | None = None,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = check_positive("num_heads", num_heads)
        self.head_width = check_positive("head_width", head_width)
        self.context_width = check_positive("context_width", context_width, optional=True)
        self.dropout = check_rate("dropout", dropout)
        self.width = num_heads * head_width
        self.supports_masking = True

    def build(self, words_shape):
        word_width = int(words_shape[-1])
        if self.context_width is None:
            self.kernel = self._add_kernel("kernel", word_width, 3)  # q, k, v
        else:
            self.query_kernel = self._add_kernel("query_kernel", word_width, 1)
            self.context_kernel = self._add_kernel("context_kernel", self.context_width, 2)  # k, v
        # At zero no key and no distance is preferred beforehand; the gradient is not zero.
        self.content_bias = self.add_weight("content_bias", [self.width], initializer="zeros")  # u
        self.position_bias = self.add_weight("position_bias", [self.width], initializer="zeros")
        self.built = True

    def _add_kernel(self, name: str, fan_in: int, parts: int) -> tf.Variable:
        """Adds ``parts`` Glorot-uniform kernels side by side, each with its own fan."""
        scale = (fan_in + parts * self.width) / (fan_in + self.width)
        initializer = tf.keras.initializers.VarianceScaling(scale, "fan_avg", "uniform")
        return self.add_weight(name, [fan_in, parts * self.width], initializer=initializer)

    def call(
        self,
        words,
        positions,
        context=None,
        context_map=None,
        mask=None,
        dropout_seed=None,
        query_tokens=None,
    ):
        if query_tokens is not None:
            return self._of_query_tokens(words, positions, context, context_map, mask, query_tokens)
        heads = self.project(words, context, context_map, dropout_seed)
        return attend_in_parallel([heads], positions, mask)[0]

    def project(self, words, context=None, context_map=None, dropout_seed=None) -> ProjectedHeads:
        """What `attend_in_parallel` takes; arguments as of the call, for all tokens."""
        queries, keys, values = self._queries_keys_values(words, context, context_map)
        return ProjectedHeads(
            queries,
            keys,
            values,
            self.content_bias,
            self.position_bias,
            self.dropout,
            dropout_seed,
        )

    def _of_query_tokens(
        self, words, positions, context, context_map, mask, query_tokens: QueryTokens
    ) -> tf.Tensor:
        """What the query tokens [K, D] get, [K, h * d]."""
        scale = self.head_width**-0.5
        query_kernel, context_kernel = self.kernels()
        context_kernel, context_bias = after(context_map, context_kernel)
        # The scale and u are in the product already, which takes no longer for it.
        queries = linear(words, query_kernel * scale, self.content_bias * scale)  # [K, h * d]
        queries = tf.reshape(queries, [-1, self.num_heads, self.head_width])
        instead = (self.position_bias - self.content_bias) * scale  # v in place of u
        instead = tf.reshape(instead, [self.num_heads, self.head_width])
        attended = AttendedContext(
            context,
            positions,
            context_kernel[:, : self.width],
            context_kernel[:, self.width :],
            None if context_bias is None else context_bias[self.width :],
            mask,
        )
        return query_attention(
            queries,
            queries + instead,
            attended,
            query_tokens,
        )

    def kernels(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Of queries, [D, h * d]; of keys and values side by side, [., 2 * h * d]."""
        if self.context_width is None:
            return self.kernel[:, : self.width], self.kernel[:, self.width :]
        return self.query_kernel, self.context_kernel

    def _queries_keys_values(self, words, context, context_map) -> list[tf.Tensor]:
        """Queries, keys and values of all tokens, [h, B, T, d] each."""
        if self.context_width is None:
            return split_heads(linear(words, self.kernel), 3, self.num_heads)
        context_kernel, context_bias = after(context_map, self.context_kernel)
        (queries,) = split_heads(linear(words, self.query_kernel), 1, self.num_heads)
        projected = linear(context, context_kernel, context_bias)
        return [queries, *split_heads(projected, 2, self.num_heads)]

    def compute_output_shape(self, words_shape):
        return tf.TensorShape([*words_shape[:-1], self.width])

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "head_width": self.head_width,
            "context_width": self.context_width,
            "dropout": self.dropout,
        }


def after(
    context_map: tuple[tf.Tensor, tf.Tensor] | None, kernel: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Kernel and bias of both, one after the other: a product of few rows, and not of B * T."""
    if context_map is None:
        return kernel, None
    before, bias = context_map
    return linear(before, kernel), linear(tf.expand_dims(bias, 0), kernel)[0]
