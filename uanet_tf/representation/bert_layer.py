"""One layer of BERT: self-attention and feed-forward, normalised after each residual."""

import math

import tensorflow as tf

from uanet_tf.arguments import check_choice, check_positive, check_rate
from uanet_tf.data.bert_spec import ACTIVATIONS
from uanet_tf.errors import ArgumentError
from uanet_tf.ops.attention import attend, merge_heads, split_heads
from uanet_tf.ops.dropout import dropout, fold_in
from uanet_tf.ops.numerics import layer_norm, linear
from uanet_tf.representation.subword_part import SUBWORDS, WINDOWS, WORDS


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BertLayer(tf.keras.layers.Layer):
    """A Transformer layer over rows whose padding is left out.

        H = LayerNorm(x + W_o attention(x) + b_o)
        output = LayerNorm(H + W_2 gelu(W_1 H + b_1) + b_2)

    States are concatenated, [N, D], without padding: only the attention itself, a small
    part of the work, has rows of sentences.

    Args:
      num_heads: attention heads.
      feedforward_width: inner width of the feed-forward part.
      activation: ``gelu`` (exact), ``gelu_tanh`` (its approximation) or ``relu``.
      epsilon: of the layer normalisations.
      hidden_dropout: rate at which the outputs of attention and feed-forward part are dropped.
      attention_dropout: rate at which attention weights are dropped.

    Call arguments:
      states: [N, D], of the sub-words, row after row.
      places: [N, 2] int64, row and column of each.
      mask: [R, S] boolean, True = sub-word.
      wanted: [W] int64, which states are requested; None: all.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape:
      [N, D], or [W, D] with ``wanted``.

    Reference:
      Devlin et al., 2019, "BERT"; Vaswani et al., 2017 (section 3.1).
    """

    def __init__(
        self,
        num_heads: int,
        feedforward_width: int,
        *,
        activation: str = "gelu",
        epsilon: float = 1e-12,
        hidden_dropout: float = 0.1,
        attention_dropout: float = 0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = check_positive("num_heads", num_heads)
        self.feedforward_width = check_positive("feedforward_width", feedforward_width)
        self.activation = check_choice("activation", activation, ACTIVATIONS)
        self.epsilon = epsilon
        self.hidden_dropout = check_rate("hidden_dropout", hidden_dropout)
        self.attention_dropout = check_rate("attention_dropout", attention_dropout)

    def build(self, states_shape):
        width, inner = int(states_shape[-1]), self.feedforward_width
        if width % self.num_heads:
            raise ArgumentError(
                f"The width of the states must be a multiple of {self.num_heads} heads. "
                f"Received: {width}"
            )
        self.attention_kernel = self._kernel("attention_kernel", [width, 3 * width])
        self.attention_bias = self.add_weight("attention_bias", [3 * width], initializer="zeros")
        self.output_kernel = self._kernel("output_kernel", [width, width])
        self.output_bias = self.add_weight("output_bias", [width], initializer="zeros")
        self.attention_norm_scale, self.attention_norm_offset = self._norm_weights(
            "attention_norm", width
        )
        self.inner_kernel = self._kernel("inner_kernel", [width, inner])
        self.inner_bias = self.add_weight("inner_bias", [inner], initializer="zeros")
        self.outer_kernel = self._kernel("outer_kernel", [inner, width])
        self.outer_bias = self.add_weight("outer_bias", [width], initializer="zeros")
        self.norm_scale, self.norm_offset = self._norm_weights("norm", width)
        self.built = True

    def _kernel(self, name, shape):
        normal = tf.keras.initializers.TruncatedNormal(stddev=0.02)
        return self.add_weight(name, shape, initializer=normal)

    def _norm_weights(self, name, width):
        scale = self.add_weight(f"{name}_scale", [width], initializer="ones")
        return scale, self.add_weight(f"{name}_offset", [width], initializer="zeros")

    def call(self, states, places, mask, wanted=None, dropout_seed=None):
        weights_seed, attended_seed, outer_seed = (fold_in(dropout_seed, k) for k in range(3))
        attended = self._attention(states, places, mask, wanted, weights_seed)
        rows = SUBWORDS
        if wanted is not None:
            states, rows = tf.gather(states, wanted), WORDS  # [W, D]
        attended = linear(attended, self.output_kernel, self.output_bias)
        attended = dropout(attended, self.hidden_dropout, attended_seed, rows=rows)
        states = self._norm(
            states + attended, self.attention_norm_scale, self.attention_norm_offset
        )

        inner = self._activate(linear(states, self.inner_kernel, self.inner_bias))
        outer = linear(inner, self.outer_kernel, self.outer_bias)
        outer = dropout(outer, self.hidden_dropout, outer_seed, rows=rows)
        return self._norm(states + outer, self.norm_scale, self.norm_offset)

    def _attention(self, states, places, mask, wanted, seed):
        """Means of values, [N, D] or [W, D]."""
        width = states.shape[-1]
        projected = linear(states, self.attention_kernel, self.attention_bias)  # [N, 3D]
        shape = tf.concat([tf.shape(mask, tf.int64), [3 * width]], axis=0)
        rows = tf.scatter_nd(places, projected, shape)  # [R, S, 3D]
        queries, keys, values = split_heads(rows, 3, self.num_heads)  # [h, R, S, d]
        scale = tf.cast(1 / math.sqrt(width // self.num_heads), queries.dtype)
        scores = tf.matmul(queries * scale, keys, transpose_b=True)  # [h, R, S, S]
        means = attend(
            scores,
            values,
            mask,
            lambda weights: dropout(weights, self.attention_dropout, seed, rows=WINDOWS, axis=1),
        )
        if wanted is not None:
            places = tf.gather(places, wanted)
        return tf.gather_nd(merge_heads(means), places)

    def _activate(self, inputs):
        if self.activation == "relu":
            return tf.nn.relu(inputs)
        return tf.nn.gelu(inputs, approximate=self.activation == "gelu_tanh")

    def _norm(self, inputs, scale, offset):
        return layer_norm(inputs, scale, offset, self.epsilon)

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "feedforward_width": self.feedforward_width,
            "activation": self.activation,
            "epsilon": self.epsilon,
            "hidden_dropout": self.hidden_dropout,
            "attention_dropout": self.attention_dropout,
        }
