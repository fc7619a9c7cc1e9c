"""Multi-head attention by content and relative position (Eq. 7)."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from uanet_tf.arguments import KeepsArguments, check_positive, check_rate
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
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import fill_rows, reshape, sizes


class QueryTokens(NamedTuple):
    """K tokens of a batch, at most Q of a sentence.

    Attention needs them as a block, sentence by sentence, with fillers where a sentence has fewer
    than Q. All else is computed for each token by itself, so K rows are enough there. The first
    of all tokens may follow them, again and again, for K to be a multiple. Tokens of one sentence
    need no block.

    Attributes:
      tokens: [K] int32, where they stand among the B * T tokens: by sentence, then by position.
      own_positions: [K] int32, their positions in the sentence.
      positions: [B, Q] int32, the positions of the block's; fillers are other positions.
      places: [B, Q] int32, which of the K rows each is; fillers are any row.
      slots: [K] int32, where the rows stand among the B * Q.
    """

    tokens: tf.Tensor
    own_positions: tf.Tensor
    positions: tf.Tensor | None = None
    places: tf.Tensor | None = None
    slots: tf.Tensor | None = None

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
        return cls(tokens, own, positions, places, fill_rows(slots, multiple))

    @classmethod
    def of_sentence(cls, wanted: tf.Tensor) -> "QueryTokens":
        """The tokens that are True in ``wanted`` [1, T], of one sentence."""
        tokens = _indices(wanted)
        return cls(tokens, tokens)

    def rows(self, inputs: tf.Tensor) -> tf.Tensor:
        """Their rows [K, D] of ``inputs`` [B, T, D]."""
        return tf.gather(tf.reshape(inputs, [-1, inputs.shape[-1]]), self.tokens)

    def block(
        self, rows: tf.Tensor, first: int | tf.Tensor = 0, count: tf.Tensor | None = None
    ) -> tf.Tensor:
        """The ``rows`` [K, h, D] as a block [B, Q * h, D]; ``count`` of the Q from the first on."""
        width = sizes(rows)[-1]
        rows = tf.gather(_side_by_side(rows), queries_of(self.places, 1, first, count))
        return tf.reshape(rows, [tf.shape(self.places)[0], -1, width])

    def unblock(self, block: tf.Tensor, num_heads: int) -> tf.Tensor:
        """The rows [K, h, D] of a ``block`` [B, Q, h * D], without the fillers."""
        rows = tf.reshape(block, [-1, num_heads, block.shape[-1] // num_heads])
        return tf.gather(rows, self.slots)


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


class Mapped(NamedTuple):
    """A linear map of vectors that is yet to be computed: of few of them, or within another map.

    Attributes:
      inputs: [B, T, D] floats.
      kernel, bias: [D, W] and [W] floats; None: the vectors are read as they are.
    """

    inputs: tf.Tensor
    kernel: tf.Tensor | None = None
    bias: tf.Tensor | None = None

    def rows(self, query_tokens: QueryTokens | None = None) -> tf.Tensor:
        """The mapped vectors: [B, T, W], or those of the query tokens [K, W]."""
        rows = self.inputs if query_tokens is None else query_tokens.rows(self.inputs)
        return rows if self.kernel is None else linear(rows, self.kernel, self.bias)

    def then(self, kernel: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
        """Kernel and bias of this map and then another: a product of few rows, and not B * T."""
        if self.kernel is None or self.bias is None:
            return kernel, None
        bias = linear(tf.expand_dims(self.bias, 0), kernel)[0]
        return linear(self.kernel, kernel), bias


def mapped(vectors: "Mapped | tf.Tensor") -> Mapped:
    """Vectors [B, T, D] that are read as they are, or a map of others."""
    return vectors if isinstance(vectors, Mapped) else Mapped(vectors)


class Heads(NamedTuple):
    """What all tokens of B sentences ask, and what they are asked: h heads of d numbers each.

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


class QueryHeads(NamedTuple):
    """What K tokens ask of all tokens of their sentences, by h heads of d numbers.

    Attributes:
      tokens: the K tokens.
      content_queries, position_queries: [K, h, d] floats, q + u and q + v by the root of d.
      context: [B, T, D] floats, c.
      key_kernel, value_kernel: [D, h * d] floats, W_k and W_v of all heads.
      value_bias: [h * d] floats, b_v, or None.
    """

    tokens: QueryTokens
    content_queries: tf.Tensor
    position_queries: tf.Tensor
    context: tf.Tensor
    key_kernel: tf.Tensor
    value_kernel: tf.Tensor
    value_bias: tf.Tensor | None


def attend_streams(
    streams: Sequence[Heads | QueryHeads],
    positions: tf.Tensor,
    mask: tf.Tensor | None = None,
    lite: LiteGraph | None = None,
) -> list[tf.Tensor]:
    """Returns what the queries of each stream get from all tokens of their sentences (Eq. 7).

        A_ij = ((q_i + u) . k_j + (q_i + v) . R_{i-j}) / sqrt(d)
        output_i = sum_j softmax_j(A_ij) values_j

    Args:
      streams: all of the same sizes.
      positions: [h * d, 2T] floats, a column R for each distance from T - 1 down to -T.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.

    Returns: Of each stream [B, T, h * d] floats, or [K, h * d] of its query tokens.
    """
    whole = [stream for stream in streams if isinstance(stream, Heads)]
    found = iter(_attend_all(whole, positions, mask, lite) if whole else [])
    return [
        next(found) if isinstance(stream, Heads) else _attend_some(stream, positions, mask)
        for stream in streams
    ]


def _attend_all(streams: Sequence[Heads], positions, mask, lite) -> list[tf.Tensor]:
    """What all tokens get.

    The heads of all S streams are heads of one attention. A sentence by itself is so small that
    each product takes the time of its start, whether it is of one stream or of all.
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

    def attend_block(first, count):
        asked = queries_of(queries, 2, first, count)  # [S * h, B, Q, d]
        scores = position_scores(asked + position_bias, positions, first)  # [S * h, B, Q, T]
        scores += tf.matmul((asked + content_bias) * scale, keys, transpose_b=True)
        return merge_heads(attend(scores, values, mask, drop))

    outputs = in_query_blocks(
        attend_block,
        length,
        len(streams) * width,
        queries.dtype,
        cells_per_query=2 * length * len(streams) * num_heads * tf.shape(queries)[1],
        whole=drops or lite is not None,
    )  # [B, T, S * h * d]
    return tf.split(outputs, len(streams), axis=-1) if len(streams) > 1 else [outputs]


def _joined(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    """The heads of all streams, one stream after the other, along the first axis."""
    return tf.concat(parts, axis=0) if len(parts) > 1 else parts[0]


def _attend_some(stream: QueryHeads, positions, mask) -> tf.Tensor:
    """What K tokens get, [K, h * d], without keys and values of the others.

        A_ij = q_i . (c_j W_k) + p_i . R_{i-j} = (q_i W_k^T) . c_j + p_i . R_{i-j}
        output_i = (sum_j softmax_j(A_ij) c_j) W_v + b_v

    So both kernels are used once for each query and head, and not once for each token. What a
    query and a key score beside this, c_j against D numbers, is little while few are queries.
    A bias of the keys would be the same for all keys of a query, and changes no weight.
    """
    _, num_heads, head_width = sizes(stream.content_queries)
    heads = [stream.context.shape[-1], num_heads, head_width]  # of a kernel
    asked = tf.einsum("khd,chd->khc", stream.content_queries, reshape(stream.key_kernel, heads))
    attend_context = _attend_in_sentence if stream.tokens.slots is None else _attend_in_block
    means = attend_context(stream, asked, positions, mask)  # [K, h, D]
    outputs = tf.einsum("khc,chd->khd", means, reshape(stream.value_kernel, heads))
    outputs = _side_by_side(outputs)
    return outputs if stream.value_bias is None else outputs + stream.value_bias


def _attend_in_sentence(stream: QueryHeads, asked, positions, mask) -> tf.Tensor:
    """Means of the context [K, h, D] for K tokens of one sentence, which ask [K, h, D]."""
    scores = position_scores_of(stream.position_queries, positions, stream.tokens.own_positions)
    scores += tf.matmul(asked, stream.context, transpose_b=True)  # [K, h, T]
    if mask is not None:
        scores += key_bias(mask, scores.dtype)
    return tf.matmul(tf.nn.softmax(scores), stream.context)


def _attend_in_block(stream: QueryHeads, asked, positions, mask) -> tf.Tensor:
    """The same for tokens of B sentences, block by block."""
    tokens, context = stream.tokens, stream.context
    _, num_heads, context_width = sizes(asked)
    batch, length, _ = sizes(context)

    def by_position(first, count):
        """The scores by position, [B, Q * h, T]."""
        if count is None:  # of the K rows, without the fillers of the block
            rows = position_scores_of(stream.position_queries, positions, tokens.own_positions)
            return tokens.block(rows)
        rows = tokens.block(stream.position_queries, first, count)  # [B, Q * h, d]
        rows = tf.reshape(rows, [-1, num_heads, rows.shape[-1]])
        own = tf.reshape(queries_of(tokens.positions, 1, first, count), [-1])
        return tf.reshape(position_scores_of(rows, positions, own), [batch, -1, length])

    def attend_block(first, count):
        # All heads have the same keys, c, so they are further queries.
        scores = by_position(first, count)
        scores += tf.einsum("bqc,btc->bqt", tokens.block(asked, first, count), context)
        if mask is not None:
            scores += key_bias(mask, scores.dtype)
        means = tf.einsum("bqt,btc->bqc", tf.nn.softmax(scores), context)
        return tf.reshape(means, [batch, -1, num_heads * context_width])

    means = in_query_blocks(
        attend_block,
        tf.shape(tokens.places)[1],
        num_heads * context_width,
        context.dtype,
        cells_per_query=num_heads * batch * tf.maximum(length, context_width),
    )  # [B, Q, h * D]
    return tokens.unblock(means, num_heads)


def _side_by_side(inputs: tf.Tensor) -> tf.Tensor:
    """The heads of [K, h, D] side by side: [K, h * D]."""
    count, num_heads, width = sizes(inputs)
    return reshape(inputs, [count, num_heads * width])


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class RelativeAttention(KeepsArguments, tf.keras.layers.Layer):
    """Attention of words to words, or of words to a second sequence, with relative positions.

    For each head, with queries from the words x and keys and values from the words or from a second
    sequence c of the same length:

        A_ij = ((q_i + u) . k_j + (q_i + v) . (W_kR R_{i-j})) / sqrt(head_width)
        output_i = sum_j softmax_j(A_ij) values_j

    The position keys W_kR R are an argument of the call and not of this layer, because the
    streams of a block share them. The heads' outputs are concatenated, not projected.

    Args:
      context_width: width of the second sequence. None: words attend to words, and their
        queries, keys and values come from one product.
      dropout: rate at which attention weights are dropped.

    Call arguments:
      words: [B, T, D] floats, or [K, D] of the query tokens.
      positions: [num_heads * head_width, 2T] floats, W_kR R with a column for each distance
        from T - 1 down to -T (see `uanet_tf.ops.attention.position_keys`).
      context: [B, T, context_width] floats, or `Mapped` to that width. Left out where
        `context_width` is None, except with query tokens: there it is all the words.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.
      dropout_seed: [2] int32 tensor, or None for no dropout. Not with `query_tokens`.
      query_tokens: `QueryTokens`, K in number; all tokens are keys. None: all tokens.

    Output shape: [B, T, num_heads * head_width], or [K, num_heads * head_width].

    Example:
    >>> attention = RelativeAttention(2, 8)
    >>> attention(tf.ones([3, 5, 20]), tf.ones([16, 10])).shape
    TensorShape([3, 5, 16])

    Reference: Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling", Eq. 7;
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
        mask=None,
        dropout_seed=None,
        query_tokens=None,
        lite=None,
    ):
        asked = self.ask(words, context, dropout_seed, query_tokens)
        return attend_streams([asked], positions, mask, lite)[0]

    def ask(self, words, context=None, dropout_seed=None, query_tokens=None) -> Heads | QueryHeads:
        """What `attend_streams` takes; arguments as of the call."""
        if query_tokens is not None:
            return self._ask_of(query_tokens, words, mapped(context))
        if self.context_width is None:
            projected = linear(words, self.kernel)
            queries, keys, values = split_heads(projected, 3, self.num_heads)
        else:
            context = mapped(context)
            kernel, bias = context.then(self.context_kernel)
            (queries,) = split_heads(linear(words, self.query_kernel), 1, self.num_heads)
            keys, values = split_heads(linear(context.inputs, kernel, bias), 2, self.num_heads)
        return Heads(
            queries, keys, values, self.content_bias, self.position_bias, self.dropout, dropout_seed
        )

    def _ask_of(self, tokens: QueryTokens, words: tf.Tensor, context: Mapped) -> QueryHeads:
        if self.context_width is None:
            query_kernel, kernel = self.kernel[:, : self.width], self.kernel[:, self.width :]
        else:
            query_kernel, kernel = self.query_kernel, self.context_kernel
        scale = self.head_width**-0.5
        # The scale and u are in the product already, which takes no longer for it.
        queries = linear(words, query_kernel * scale, self.content_bias * scale)  # [K, h * d]
        queries = tf.reshape(queries, [-1, self.num_heads, self.head_width])
        instead = (self.position_bias - self.content_bias) * scale  # v in place of u
        instead = tf.reshape(instead, [self.num_heads, self.head_width])
        kernel, bias = context.then(kernel)
        return QueryHeads(
            tokens,
            queries,
            queries + instead,
            context.inputs,
            kernel[:, : self.width],
            kernel[:, self.width :],
            None if bias is None else bias[self.width :],
        )
