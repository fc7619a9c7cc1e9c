"""One stream of a block: attention, Add & Norm, feed-forward, Add & Norm (Eq. 8)."""

import tensorflow as tf

from uanet_tf.arguments import ArgumentError, KeepsArguments, check_positive, check_rate
from uanet_tf.layers.relative_attention import Heads, QueryHeads, RelativeAttention, attend_streams
from uanet_tf.ops.dropout import dropout, fold_in
from uanet_tf.ops.numerics import add_linear, layer_norm, linear

# Consumers of the dropout seed.
_WEIGHTS, _ATTENDED, _FEEDFORWARD = range(3)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class AttentionStream(KeepsArguments, tf.keras.layers.Layer):
    """A Transformer layer with relative attention, normalised after each residual.

        H = LayerNorm(residual + W_o attention(words, context) + b_o)
        output = LayerNorm(H + W_2 relu(W_1 H + b_1) + b_2)

    Args:
      feedforward_width: hidden width of the feed-forward layer; None: twice num_heads * head_width.
      context_width: width of the sequence attended to. None: the words themselves, as in the layer
        of a relative Transformer encoder.
      dropout: rate at which the outputs of attention and feed-forward layer are dropped.
      attention_dropout: rate at which attention weights are dropped.

    Call arguments:
      words: [B, T, W] floats, or [K, W] of the query tokens, W = num_heads * head_width: the
        queries.
      positions: [W, 2T] floats, W_kR R with a column for each distance from T - 1 down to -T.
      residual: [B, T, W] floats, or [K, W] of the query tokens: what the attention is added
        to. Default: `words`.
      context: as in `RelativeAttention`.
      mask: [B, T] booleans, True = token. None: no padding.
      dropout_seed: [2] int32 tensor, or None for no dropout. Not with `query_tokens`.
      dropout_masks: {"attention": [B, W], "feedforward": [B, W]}, either may be missing: what the
        two outputs are multiplied with, the same at each position. Where given (an empty one too),
        `dropout_seed` drops attention weights only. Not with `query_tokens`.
      query_tokens: `QueryTokens`, K in number; all tokens are keys. None: all tokens.

    Output shape: [B, T, W], or [K, W] of the query tokens.

    Example:
    >>> stream = AttentionStream(2, 8)
    >>> stream(tf.ones([3, 5, 16]), tf.ones([16, 10])).shape
    TensorShape([3, 5, 16])

    Reference: Gui et al., 2020, "Uncertainty-Aware Label Refinement for Sequence Labeling", Eq. 8.
    """

    def __init__(
        self,
        num_heads: int,
        head_width: int,
        *,
        feedforward_width: int | None = None,
        context_width: int | None = None,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = check_positive("num_heads", num_heads)
        self.head_width = check_positive("head_width", head_width)
        self.feedforward_width = check_positive(
            "feedforward_width", feedforward_width, optional=True
        )
        self.context_width = check_positive("context_width", context_width, optional=True)
        self.dropout = check_rate("dropout", dropout)
        self.attention_dropout = check_rate("attention_dropout", attention_dropout)
        self.width = num_heads * head_width
        self.supports_masking = True
        self.attention = RelativeAttention(
            num_heads,
            head_width,
            context_width=context_width,
            dropout=attention_dropout,
            dtype=self.dtype_policy,
            name="attention",
        )

    def build(self, words_shape):
        if words_shape[-1] != self.width:
            raise ArgumentError(
                "The width of `words` must be num_heads * head_width, so that it can be added to "
                f"the attention. Received: {words_shape[-1]}, expected {self.width}"
            )
        with tf.name_scope(self.attention.name):
            self.attention.build(words_shape)
        hidden = self.feedforward_width or 2 * self.width
        self.output_kernel, self.output_bias = add_linear(self, "output", self.width, self.width)
        self.attention_norm = self._add_norm("attention_norm")
        self.hidden_kernel, self.hidden_bias = add_linear(self, "hidden", self.width, hidden)
        self.feedforward_kernel, self.feedforward_bias = add_linear(
            self, "feedforward", hidden, self.width
        )
        self.feedforward_norm = self._add_norm("feedforward_norm")
        self.built = True

    def _add_norm(self, name: str) -> tuple[tf.Variable, tf.Variable]:
        scale = self.add_weight(f"{name}_scale", [self.width], initializer="ones")
        return scale, self.add_weight(f"{name}_offset", [self.width], initializer="zeros")

    def call(
        self,
        words,
        positions,
        residual=None,
        context=None,
        mask=None,
        dropout_seed=None,
        dropout_masks=None,
        query_tokens=None,
        lite=None,
    ):
        asked = self.ask(words, context, dropout_seed, query_tokens)
        (attended,) = attend_streams([asked], positions, mask, lite)
        if residual is None:
            residual = words
        return self.add_attended(attended, residual, dropout_seed, dropout_masks)

    def ask(self, words, context=None, dropout_seed=None, query_tokens=None) -> Heads | QueryHeads:
        """What `attend_streams` takes; arguments as of the call."""
        seed = fold_in(dropout_seed, _WEIGHTS)
        return self.attention.ask(words, context, seed, query_tokens)

    def add_attended(self, attended, residual, dropout_seed=None, dropout_masks=None) -> tf.Tensor:
        """All that follows attention. Shapes are those of the call's output."""

        def drop(rows, name, seed):
            if dropout_masks is None:
                return dropout(rows, self.dropout, seed)
            return _mask_rows(rows, dropout_masks.get(name), tf.shape(attended)[1])

        # From here on each token is computed by itself: as rows of one matrix, bias, residual and
        # ReLU are fused into the products.
        is_matrix = attended.shape.rank == 2
        if not is_matrix:
            residual = tf.reshape(residual, [-1, self.width])
        rows = attended if is_matrix else tf.reshape(attended, [-1, self.width])  # [B * T, W]
        outputs = linear(rows, self.output_kernel, self.output_bias)
        outputs = drop(outputs, "attention", fold_in(dropout_seed, _ATTENDED))
        outputs += residual
        outputs = layer_norm(outputs, *self.attention_norm)

        hidden = tf.nn.relu(linear(outputs, self.hidden_kernel, self.hidden_bias))  # [B * T, F]
        forward = linear(hidden, self.feedforward_kernel, self.feedforward_bias)  # [B * T, W]
        outputs += drop(forward, "feedforward", fold_in(dropout_seed, _FEEDFORWARD))
        outputs = layer_norm(outputs, *self.feedforward_norm)
        return outputs if is_matrix else tf.reshape(outputs, tf.shape(attended))


def _mask_rows(rows: tf.Tensor, mask: tf.Tensor | None, length: tf.Tensor) -> tf.Tensor:
    """Multiplies the rows [B * T, W] of each sentence by its row of the mask [B, W]."""
    if mask is None:
        return rows
    return rows * tf.repeat(mask, length, axis=0)
