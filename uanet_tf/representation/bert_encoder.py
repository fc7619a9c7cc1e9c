"""BERT: embeddings of sub-words and a stack of Transformer layers."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.arguments import KeepsArguments, check_choice, check_positive, check_rate
from uanet_tf.data.bert_spec import ACTIVATIONS, BertSpec
from uanet_tf.errors import ArgumentError
from uanet_tf.ops.attention import attend, merge_heads, split_heads
from uanet_tf.ops.dropout import SENTENCES, PartSeed, dropout, fold_in
from uanet_tf.ops.numerics import layer_norm, linear
from uanet_tf.ops.subword_windows import SubwordRows

# What the rows of BERT's dropped tensors stand for.
WINDOWS, SUBWORDS, WORDS = "windows", "subwords", "words"


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BertLayer(KeepsArguments, tf.keras.layers.Layer):
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


# Consumers of the dropout seed.
_EMBEDDED, _BLOCKS = range(2)  # and from the last on, one for each block


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class BertEncoder(KeepsArguments, tf.keras.layers.Layer):
    """Contextual states of sub-words.

    Nothing is computed for padding, and in the last layer only the requested sub-words.
    Text is of one segment, whose embedding is a vector; there is no pooled output.

    Args:
      vocabulary_size: rows of the embedding table.
      width: width D of the states.
      num_layers: number of layers.
      num_heads: attention heads of a layer.
      feedforward_width: inner width of a layer's feed-forward part.
      max_positions: most sub-words of a row.
      activation: ``gelu`` (exact, as Hugging Face's BERTs), ``gelu_tanh`` (its
        approximation, as Google's) or ``relu``.
      epsilon: of the layer normalisations.
      hidden_dropout: rate of dropout on embeddings and on the layers' outputs.
      attention_dropout: rate of dropout on attention weights.

    Call arguments:
      ids: [R, S] int32, positions in the vocabulary; ignored at padding.
      mask: [R, S] boolean, True = sub-word, S at most ``max_positions``.
      places: [W, 2] int64, row and column of the requested states; None: all that the
        mask keeps, row after row.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape:
      [W, D].

    Example:

    >>> bert = BertEncoder(30, width=8, num_layers=2, num_heads=2, feedforward_width=16)
    >>> bert(tf.constant([[2, 7, 9, 3]]), tf.constant([[True] * 4])).shape
    TensorShape([4, 8])

    Reference:
      Devlin et al., 2019, "BERT: Pre-training of Deep Bidirectional Transformers".
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        width: int = 768,
        num_layers: int = 12,
        num_heads: int = 12,
        feedforward_width: int = 3072,
        max_positions: int = 512,
        activation: str = "gelu",
        epsilon: float = 1e-12,
        hidden_dropout: float = 0.1,
        attention_dropout: float = 0.1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocabulary_size = check_positive("vocabulary_size", vocabulary_size)
        self.width = check_positive("width", width)
        self.num_layers = check_positive("num_layers", num_layers)
        self.num_heads = check_positive("num_heads", num_heads)
        self.feedforward_width = check_positive("feedforward_width", feedforward_width)
        self.max_positions = check_positive("max_positions", max_positions)
        self.activation = activation
        self.epsilon = epsilon
        self.hidden_dropout = check_rate("hidden_dropout", hidden_dropout)
        self.attention_dropout = check_rate("attention_dropout", attention_dropout)
        self.blocks = [
            BertLayer(
                num_heads,
                feedforward_width,
                activation=activation,
                epsilon=epsilon,
                hidden_dropout=hidden_dropout,
                attention_dropout=attention_dropout,
                dtype=self.dtype_policy,
                name=f"layer_{number}",
            )
            for number in range(num_layers)
        ]

    @classmethod
    def from_spec(cls, spec: BertSpec, **kwargs: Any) -> "BertEncoder":
        """The encoder of a BERT's sizes, without its weights."""
        return cls(
            spec.vocabulary_size,
            width=spec.width,
            num_layers=spec.num_layers,
            num_heads=spec.num_heads,
            feedforward_width=spec.feedforward_width,
            max_positions=spec.max_positions,
            activation=spec.activation,
            epsilon=spec.epsilon,
            **kwargs,
        )

    def build(self, ids_shape):
        del ids_shape
        tables = {
            "token_embeddings": [self.vocabulary_size, self.width],
            "position_embeddings": [self.max_positions, self.width],
            "segment_embedding": [self.width],
        }
        for name, shape in tables.items():
            normal = tf.keras.initializers.TruncatedNormal(stddev=0.02)
            setattr(self, name, self.add_weight(name, shape, initializer=normal))
        self.norm_scale = self.add_weight("norm_scale", [self.width], initializer="ones")
        self.norm_offset = self.add_weight("norm_offset", [self.width], initializer="zeros")
        for block in self.blocks:
            with tf.name_scope(block.name):
                block.build([None, self.width])
        self.built = True

    def call(self, ids, mask, places=None, dropout_seed=None):
        real = tf.where(mask)  # [N, 2]
        states = tf.gather(self.token_embeddings, tf.gather_nd(ids, real))
        states += tf.gather(self.position_embeddings, real[:, 1])
        states += self.segment_embedding
        states = layer_norm(states, self.norm_scale, self.norm_offset, self.epsilon)
        states = dropout(
            states, self.hidden_dropout, fold_in(dropout_seed, _EMBEDDED), rows=SUBWORDS
        )  # [N, D]

        wanted = None if places is None else self._numbers(places, mask)
        for number, block in enumerate(self.blocks, _BLOCKS):
            states = block(
                states,
                real,
                mask,
                wanted=wanted if block is self.blocks[-1] else None,
                dropout_seed=fold_in(dropout_seed, number),
            )
        return states

    @staticmethod
    def _numbers(places: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Indices [W] of the states of [W, 2] places among those of all sub-words."""
        lengths = tf.reduce_sum(tf.cast(mask, tf.int64), axis=1)
        return tf.gather(tf.cumsum(lengths, exclusive=True), places[:, 0]) + places[:, 1]

    def fill(self, weights: Mapping[str, np.ndarray]) -> None:
        """Sets pretrained weights, under the names of ``BertSpec.weight_shapes``."""
        if not self.built:
            self.build([None, None])
        for name, value in weights.items():
            owner, _, attribute = name.rpartition("/")
            layer = self.blocks[int(owner.removeprefix("layer_"))] if owner else self
            getattr(layer, attribute).assign(value)


def subword_part(
    rows: SubwordRows, lengths: tf.Tensor, seed: PartSeed
) -> tuple[SubwordRows, PartSeed]:
    """Selects the rows of a part's sentences.

    Args:
      rows: of all sentences of a batch.
      lengths: [B] int32, tokens of each sentence of the batch.
      seed: of the part.

    Returns:
      The rows of the part, as wide as those of the batch; the seed, that knows the part's place
      among the windows, sub-words and words of the batch.
    """
    first, count, _ = tf.unstack(seed.spans[SENTENCES], num=3)
    sizes = tf.reduce_sum(tf.cast(rows.mask, tf.int32), axis=1)  # [R]
    inside = (rows.sentences >= first) & (rows.sentences < first + count)
    before = rows.sentences < first
    windows = _span(tf.ones_like(sizes), before, inside)
    subwords = _span(sizes, before, inside)
    sentence = tf.range(tf.size(lengths))
    words = _span(lengths, sentence < first, (sentence >= first) & (sentence < first + count))
    chosen = slice(windows[0], windows[0] + windows[1])
    places = rows.places[words[0] : words[0] + words[1]]
    part = SubwordRows(
        rows.ids[chosen],
        rows.mask[chosen],
        places - tf.cast(tf.stack([windows[0], 0]), tf.int64),
        rows.sentences[chosen] - first,
    )
    return part, seed.with_spans(**{WINDOWS: windows, SUBWORDS: subwords, WORDS: words})


def _span(sizes: tf.Tensor, before: tf.Tensor, inside: tf.Tensor) -> tf.Tensor:
    """[3]: the sum of the sizes before the part, of those in it, and of all."""
    parts = [tf.where(before, sizes, 0), tf.where(inside, sizes, 0), sizes]
    return tf.stack([tf.reduce_sum(part) for part in parts])
