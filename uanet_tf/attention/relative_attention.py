"""Multi-head attention by content and relative position (Eq. 7)."""

import tensorflow as tf

from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.attention.query_tokens import QueryTokens
from uanet_tf.ops.linear import linear
from uanet_tf.ops.masking import has_others, self_bias
from uanet_tf.ops.query_blocks import in_query_blocks
from uanet_tf.ops.relative_attention import (
    attend,
    merge_heads,
    position_scores,
    position_scores_of,
    split_heads,
)


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
      exclude_self: whether a token gives its own position no weight. In a sentence of one token
        no key is left, and its output is 0.
      dropout: rate at which attention weights are dropped.
      **kwargs: `name` and `dtype`.

    Call arguments:
      words: [B, T, D] floats.
      positions: [num_heads * head_width, 2T] floats, W_kR R with a column for each distance
        from T - 1 down to -T (see `uanet_tf.ops.sinusoid.relative_sinusoid`).
      context: [B, T, context_width] floats; left out where `context_width` is None.
      context_table: [C, context_width] floats: then `context` is [B, T, C], shares of the rows
        of this table, whose mixture is attended to. Fewer operations than to mix it beforehand,
        since the C rows are projected and not the B * T mixtures.
      mask: [B, T] booleans, True = token; padding gets no weight. None: no padding.
      dropout_seed: [2] int32 tensor, or None for no dropout.
      query_tokens: `QueryTokens`, at most Q of a sentence; all tokens are keys. None: all.

    Output shape:
      [B, T, num_heads * head_width], or [B, Q, num_heads * head_width], any numbers at fillers.

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
        exclude_self: bool = False,
        dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = check_positive("num_heads", num_heads)
        self.head_width = check_positive("head_width", head_width)
        self.context_width = check_positive("context_width", context_width, optional=True)
        self.exclude_self = exclude_self
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
        context_table=None,
        mask=None,
        dropout_seed=None,
        query_tokens=None,
    ):
        queries, keys, values, rows = self._project(
            words, context, context_table, query_tokens
        )  # [h, B, T, d]; [h, K, d]
        positions *= self.head_width**-0.5
        if self.exclude_self:
            values *= has_others(mask, tf.shape(keys)[2], values.dtype)

        def of_positions(queries, query_positions, first):
            """The scores by position, [h, B, Q, T]."""
            _, bias = self._biases()
            if rows is None or tf.is_tensor(first):  # a block of several: of its own queries
                return position_scores(queries + bias, positions, query_positions, first)
            # Of all query tokens at once, without the fillers of the block.
            scores = position_scores_of(rows + bias[:, 0], positions, query_tokens.own_positions)
            return tf.gather(scores, query_tokens.places, axis=1)

        def attend(queries, query_positions, first):
            scores = of_positions(queries, query_positions, first)
            return self._attend(
                queries, keys, values, scores, mask, dropout_seed, query_positions, first
            )

        return in_query_blocks(
            attend,
            queries,
            None if query_tokens is None else query_tokens.positions,
            cells_per_query=self.num_heads * tf.shape(words)[0] * tf.shape(positions)[1],
            whole=dropout_seed is not None,
        )  # [B, T, h * d]

    def _biases(self) -> tuple[tf.Tensor, tf.Tensor]:
        """U and v, [h, 1, 1, d]."""
        shape = [self.num_heads, 1, 1, self.head_width]
        return tf.reshape(self.content_bias, shape), tf.reshape(self.position_bias, shape)

    def _attend(
        self, queries, keys, values, scores, mask, dropout_seed, query_positions, first
    ) -> tf.Tensor:
        """What the queries [h, B, Q, d] get, [B, Q, h * d], given their scores by position."""
        content_bias, _ = self._biases()
        scale = self.head_width**-0.5
        scores += tf.matmul((queries + content_bias) * scale, keys, transpose_b=True)
        # scores: [h, B, Q, T]
        if self.exclude_self:
            length, count = tf.shape(keys)[2], tf.shape(queries)[2]
            if query_positions is None:
                query_positions = tf.expand_dims(tf.range(first, first + count), 0)
            scores += self_bias(length, scores.dtype, query_positions)
        outputs = attend(scores, values, mask, self.dropout, dropout_seed)  # [h, B, Q, d]
        return merge_heads(outputs)

    def _project(
        self, words, context, context_table, query_tokens: QueryTokens | None
    ) -> tuple[tf.Tensor, ...]:
        """Queries [h, B, Q, d], keys and values [h, B, T, d]; of query tokens also [h, K, d]."""
        if self.context_width is None and query_tokens is None:
            return *split_heads(linear(words, self.kernel), 3, self.num_heads), None
        if self.context_width is None:
            kernels, context = (self.kernel[:, : self.width], self.kernel[:, self.width :]), words
        else:
            kernels = (self.query_kernel, self.context_kernel)
            if context_table is not None:
                kernels = (self.query_kernel, linear(context_table, self.context_kernel))
        keys, values = split_heads(linear(context, kernels[1]), 2, self.num_heads)
        if query_tokens is None:
            (queries,) = split_heads(linear(words, kernels[0]), 1, self.num_heads)
            return queries, keys, values, None
        rows = linear(query_tokens.rows(words), kernels[0])  # [K, h * d]
        (queries,) = split_heads(query_tokens.block(rows), 1, self.num_heads)
        (rows,) = split_heads(tf.expand_dims(rows, 0), 1, self.num_heads)  # [h, 1, K, d]
        return queries, keys, values, rows[:, 0]

    def compute_output_shape(self, words_shape):
        return tf.TensorShape([*words_shape[:-1], self.width])

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "head_width": self.head_width,
            "context_width": self.context_width,
            "exclude_self": self.exclude_self,
            "dropout": self.dropout,
        }
