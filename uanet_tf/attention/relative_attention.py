"""Multi-head attention by content and relative position (Eq. 7)."""

import tensorflow as tf

from uanet_tf.arguments import check_positive, check_rate
from uanet_tf.attention.attended_context import AttendedContext
from uanet_tf.attention.parallel_attention import attend_in_parallel
from uanet_tf.attention.projected_heads import ProjectedHeads
from uanet_tf.attention.query_attention import query_attention
from uanet_tf.attention.query_tokens import QueryTokens
from uanet_tf.ops.linear import linear
from uanet_tf.ops.relative_attention import split_heads


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
      words: [B, T, D] floats, or [K, D] of the query tokens.
      positions: [num_heads * head_width, 2T] floats, W_kR R with a column for each distance
        from T - 1 down to -T (see `uanet_tf.ops.sinusoid.relative_sinusoid`).
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
            self.exclude_self,
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
            exclude_self=self.exclude_self,
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
            "exclude_self": self.exclude_self,
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
