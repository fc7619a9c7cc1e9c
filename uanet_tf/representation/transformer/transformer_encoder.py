"""A Transformer encoder: embeddings of sub-words and a stack of layers of one architecture."""

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from uanet_tf.arguments import ArgumentError
from uanet_tf.data.encoder_spec import RELATIVE, ROTARY, Architecture, Shape
from uanet_tf.errors import InputError
from uanet_tf.ops.attention import attend, merge_heads, position_scores, split_heads
from uanet_tf.ops.dropout import SENTENCES, PartSeed, dropout, fold_in, seed_of_batch
from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.numerics import layer_norm, linear
from uanet_tf.ops.subword_windows import SubwordRows

# What the rows of an encoder's dropped tensors stand for.
WINDOWS, SUBWORDS, WORDS = "windows", "subwords", "words"


class _OfArchitecture(tf.keras.layers.Layer):
    """A layer that an ``Architecture``, or a dictionary of its fields, describes."""

    def __init__(self, architecture: Architecture | Mapping[str, Any], **kwargs):
        super().__init__(**kwargs)
        if not isinstance(architecture, Architecture):
            architecture = Architecture.from_dict(architecture)
        self.architecture = architecture

    def _add(self, shapes: Mapping[str, Shape]) -> None:
        """Adds weights as attributes of their names."""
        for name, shape in shapes.items():
            initializer: Any = tf.keras.initializers.TruncatedNormal(stddev=0.02)
            if len(shape) == 1:
                initializer = "ones" if name.endswith("scale") else "zeros"
            setattr(self, name, self.add_weight(name, shape, initializer=initializer))

    def _linear(self, name: str, inputs: tf.Tensor) -> tf.Tensor:
        bias = getattr(self, f"{name}_bias", None)
        return linear(inputs, getattr(self, f"{name}_kernel"), bias)

    def _norm(self, name: str, inputs: tf.Tensor) -> tf.Tensor:
        """Inputs, normalised where the architecture does so."""
        scale = getattr(self, f"{name}_scale", None)
        if scale is None:
            return inputs
        offset = getattr(self, f"{name}_offset", None)
        return layer_norm(inputs, scale, offset, self.architecture.epsilon)

    def get_config(self):
        return {**super().get_config(), "architecture": dataclasses.asdict(self.architecture)}


class Positions(NamedTuple):
    """What the attention of a layer reads of positions; None where its architecture has none.

    S sub-words in the longest row.

    Attributes:
      relative: [2S + 1, D] floats, a vector for each distance from S down to -S.
      rotation: cosines and sines, [S, d] floats each, d the width of a head.
      far: [S, S] floats, added to scores: a large negative number beyond the reach.
    """

    relative: tf.Tensor | None = None
    rotation: tuple[tf.Tensor, tf.Tensor] | None = None
    far: tf.Tensor | None = None


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TransformerLayer(_OfArchitecture):
    """A Transformer layer over rows whose padding is left out.

        H = LayerNorm(x + W_o attention(x) + b_o)
        output = LayerNorm(H + W_2 gelu(W_1 H + b_1) + b_2)

    With ``normed_first`` the normalisations are of what attention and feed-forward part read; with
    ``gated`` the latter is W_2 (gelu(W_1 H) * W_3 H). States are concatenated, [N, D], without
    padding: only the attention itself, a small part of the work, has rows of sentences.

    Args:
      architecture: of the encoder.
      number: of the layer's block of weights.

    Call arguments:
      states: [N, D], of the sub-words, row after row.
      places: [N, 2] int64, row and column of each.
      mask: [R, S] boolean, True = sub-word.
      positions: ``Positions`` that the architecture reads.
      wanted: [W] int64, which states are requested; None: all.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape: [N, D], or [W, D] with ``wanted``.
    Reference: Vaswani et al., 2017 (section 3.1); Devlin et al., 2019, "BERT"; He et al., 2021,
      "DeBERTa" (Eq. 4); Su et al., 2021, "RoFormer"; Warner et al., 2024, "ModernBERT".
    """

    def __init__(self, architecture: Architecture | Mapping[str, Any], number: int = 0, **kwargs):
        super().__init__(architecture, **kwargs)
        self.number = number

    def build(self, states_shape):
        width = self.architecture.width
        if int(states_shape[-1]) != width:
            raise ArgumentError(
                f"The width of the states must be {width}. Received: {states_shape[-1]}"
            )
        self._add(self.architecture.layer_shapes(self.number))
        self.built = True

    def call(
        self,
        states,
        places,
        mask,
        positions: Positions | None = None,
        wanted=None,
        dropout_seed=None,
    ):
        first, rate = self.architecture.normed_first, self.architecture.hidden_dropout
        weights_seed, attended_seed, outer_seed = (fold_in(dropout_seed, k) for k in range(3))
        read = self._norm("attention_norm", states) if first else states
        attended = self._attention(read, places, mask, positions or Positions(), weights_seed)
        rows = SUBWORDS
        if wanted is not None:
            states, attended, rows = tf.gather(states, wanted), tf.gather(attended, wanted), WORDS
        attended = self._linear("output", attended)
        states += dropout(attended, rate, attended_seed, rows=rows)  # [N, D] or [W, D]
        if not first:
            states = self._norm("attention_norm", states)

        outer = self._feed_forward(self._norm("norm", states) if first else states)
        states += dropout(outer, rate, outer_seed, rows=rows)
        return states if first else self._norm("norm", states)

    def _attention(self, states, places, mask, positions, seed):
        """Means of values, [N, D]."""
        width, heads = self.architecture.width, self.architecture.num_heads
        projected = self._linear("attention", states)  # [N, 3D]
        shape = tf.concat([tf.shape(mask, tf.int64), [3 * width]], axis=0)
        rows = tf.scatter_nd(places, projected, shape)  # [R, S, 3D]
        queries, keys, values = split_heads(rows, 3, heads)  # [h, R, S, d]
        if positions.rotation is not None:
            queries, keys = (_rotate(vectors, *positions.rotation) for vectors in (queries, keys))
        terms = 1 if positions.relative is None else 3
        scale = tf.cast(1 / math.sqrt(width // heads * terms), queries.dtype)
        queries *= scale
        scores = tf.matmul(queries, keys, transpose_b=True)  # [h, R, S, S]
        if positions.relative is not None:
            scores += self._disentangled(queries, keys * scale, positions.relative)
        if positions.far is not None:
            scores += positions.far
        rate = self.architecture.attention_dropout
        means = attend(
            scores, values, mask, lambda weights: dropout(weights, rate, seed, rows=WINDOWS, axis=1)
        )
        return tf.gather_nd(merge_heads(means), places)

    def _disentangled(self, queries, keys, relative):
        """Scores of words for distances, and of distances for words: q_i . k_{i-j} + k_j . q_{i-j}.

        The distances have queries and keys by the kernels of the words.
        """
        of_queries, of_keys, _ = tf.split(self._linear("attention", relative), 3, axis=-1)
        to_places = position_scores(queries, tf.transpose(of_keys[1:]))
        # Here the key comes first: its distance to the query is the other's, with the other sign.
        from_places = position_scores(keys, tf.transpose(of_queries[-2::-1]))
        return to_places + tf.linalg.matrix_transpose(from_places)

    def _feed_forward(self, states):
        inner = self._linear("inner", states)
        gate = None
        if self.architecture.gated:
            inner, gate = tf.split(inner, 2, axis=-1)
        if self.architecture.activation == "relu":
            inner = tf.nn.relu(inner)
        else:
            inner = tf.nn.gelu(inner, approximate=self.architecture.activation == "gelu_tanh")
        return self._linear("outer", inner if gate is None else inner * gate)

    def get_config(self):
        return {**super().get_config(), "number": self.number}


def _rotate(vectors: tf.Tensor, cosines: tf.Tensor, sines: tf.Tensor) -> tf.Tensor:
    """Vectors [h, R, S, d], the pairs (k, k + d / 2) of each turned by the angles of its place."""
    first, second = tf.split(vectors, 2, axis=-1)
    return vectors * cosines + tf.concat([-second, first], axis=-1) * sines


@functools.cache
def relative_rows(longest: int, buckets: int) -> np.ndarray:
    """[2 * longest + 1] rows of the table of relative embeddings, for ``longest`` to -``longest``.

    The nearest half of the buckets are of one distance each, the others of more and more.

    Reference: He et al., 2021, "DeBERTa" and its code (make_log_bucket_position), in float32.
    """
    distance = np.arange(longest, -longest - 1, -1)
    half = buckets // 2
    size = np.maximum(np.abs(distance), half).astype(np.float32)
    share = np.log(size / np.float32(half)) / np.log(np.float32(max(longest - 1, half + 1) / half))
    far = np.ceil(share * np.float32(half - 1)).astype(np.int64) + half
    bucket = np.where(np.abs(distance) <= half, distance, np.sign(distance) * far)
    return np.clip(bucket + buckets, 0, 2 * buckets - 1).astype(np.int32)


class TransformerEmbeddings(_OfArchitecture):
    """Embeddings of sub-words and their positions, normalised and maybe projected.

    All text is of one segment, whose embedding is part of the positions'.

    Call arguments:
      ids: [N] int32, positions in the vocabulary.
      columns: [N] int64, their positions in rows.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape: [N, D].
    """

    def build(self, ids_shape):
        del ids_shape
        self._add(self.architecture.embedding_shapes())
        self.built = True

    def call(self, ids, columns, dropout_seed=None):
        states = tf.gather(self.token_embeddings, ids)
        if hasattr(self, "position_embeddings"):
            states += tf.gather(self.position_embeddings, columns)
        states = self._norm("norm", states)
        states = dropout(states, self.architecture.hidden_dropout, dropout_seed, rows=SUBWORDS)
        return self._linear("projection", states) if hasattr(self, "projection_kernel") else states

    def relative(self, length: tf.Tensor, dropout_seed: Any = None) -> tf.Tensor:
        """Vectors of the distances from ``length`` to -``length``, [2 * length + 1, D]."""
        seed = None if dropout_seed is None else seed_of_batch(dropout_seed)
        table = self._norm("relative_norm", tf.convert_to_tensor(self.relative_embeddings))
        table = dropout(table, self.architecture.hidden_dropout, seed)
        longest = self.architecture.max_positions
        rows = tf.constant(relative_rows(longest, self.architecture.buckets))
        return tf.gather(table, rows[longest - length : longest + length + 1])


# Consumers of the dropout seed.
_EMBEDDED, _LAYERS = range(2)  # and from the last on, one for each layer


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TransformerEncoder(_OfArchitecture):
    """Contextual states of sub-words.

    Nothing is computed for padding, and in the last layer only the requested sub-words.

    Args:
      architecture: sizes and kinds of layers: an ``Architecture``, or a dictionary of its fields.
      freeze_layers: embeddings and so many of the first layers are not trained; 0: all are.

    Call arguments:
      ids: [R, S] int32, positions in the vocabulary; ignored at padding.
      mask: [R, S] boolean, True = sub-word, S at most ``max_positions``.
      places: [W, 2] int64, row and column of the requested states; None: all that the
        mask keeps, row after row.
      dropout_seed: [2] int32 seed, or None to drop nothing.

    Output shape: [W, D].

    Example:
    >>> sizes = {"width": 8, "num_layers": 2, "num_heads": 2, "feedforward_width": 16}
    >>> encoder = TransformerEncoder({"vocabulary_size": 30, "max_positions": 9, **sizes})
    >>> encoder(tf.constant([[2, 7, 9, 3]]), tf.constant([[True] * 4])).shape
    TensorShape([4, 8])

    Reference: Devlin et al., 2019, "BERT: Pre-training of Deep Bidirectional Transformers"; see
      ``TransformerLayer``.
    """

    def __init__(
        self, architecture: Architecture | Mapping[str, Any], *, freeze_layers: int = 0, **kwargs
    ):
        super().__init__(architecture, **kwargs)
        architecture, self.freeze_layers = self.architecture, freeze_layers
        self.embeddings = TransformerEmbeddings(
            architecture, dtype=self.dtype_policy, name="embeddings"
        )
        self.blocks = [
            TransformerLayer(architecture, number, dtype=self.dtype_policy, name=f"layer_{number}")
            for number in range(max(architecture.blocks) + 1)
        ]
        if freeze_layers > (0 if architecture.groups else len(self.blocks)):
            shared = " that share weights" if architecture.groups else ""
            raise InputError(
                f"`freeze_layers={freeze_layers}` is more than the {len(self.blocks)} layers"
                f"{shared} of the pretrained encoder allow."
            )
        if freeze_layers:
            for layer in (self.embeddings, *self.blocks[:freeze_layers]):
                layer.trainable = False

    @property
    def width(self) -> int:
        """Width of the states."""
        return self.architecture.width

    def build(self, ids_shape):
        for layer in (self.embeddings, *self.blocks):
            with tf.name_scope(layer.name):
                layer.build([None, self.width])
        self._add(self.architecture.last_shapes())
        self.built = True

    def call(self, ids, mask, places=None, dropout_seed=None):
        real = tf.where(mask)  # [N, 2]
        seed = fold_in(dropout_seed, _EMBEDDED)
        states = self.embeddings(tf.gather_nd(ids, real), real[:, 1], dropout_seed=seed)  # [N, D]

        wanted = None if places is None else self.numbers(places, mask)
        order = self.architecture.blocks
        kinds = self._positions(tf.shape(mask)[1], seed)
        for number, block in enumerate(order):
            states = self.blocks[block](
                states,
                real,
                mask,
                positions=kinds[self.architecture.is_local(number)],
                wanted=wanted if number + 1 == len(order) else None,
                dropout_seed=fold_in(dropout_seed, _LAYERS + number),
            )
            if number + 1 == self.freeze_layers:
                states = tf.stop_gradient(states)
        return self._norm("last_norm", states)

    def _positions(self, length, seed) -> tuple[Positions, Positions]:
        """What global layers read of positions, and what local ones."""
        own, dtype = self.architecture, self.compute_dtype
        if own.positions == RELATIVE:
            relative = self.embeddings.relative(length, fold_in(seed, 0))
            return (Positions(relative=relative),) * 2
        if own.positions != ROTARY:
            return (Positions(),) * 2
        place = tf.range(length)
        near = tf.abs(tf.expand_dims(place, 0) - tf.expand_dims(place, 1)) <= own.reach
        head_width, thetas = self.width // own.num_heads, (own.global_theta, own.local_theta)
        turns = [rotation(place, head_width, theta, dtype) for theta in thetas]
        far = key_bias(near, dtype)[:, 0]
        return Positions(rotation=turns[0]), Positions(rotation=turns[1], far=far)

    @staticmethod
    def numbers(places: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Indices [W] of the states of [W, 2] places among those of all sub-words."""
        lengths = tf.reduce_sum(tf.cast(mask, tf.int64), axis=1)
        return tf.gather(tf.cumsum(lengths, exclusive=True), places[:, 0]) + places[:, 1]

    def fill(self, weights: Mapping[str, np.ndarray]) -> None:
        """Sets pretrained weights, under the names of ``Architecture.weight_shapes``."""
        if not self.built:
            self.build([None, None])
        layers = {layer.name: layer for layer in (self.embeddings, *self.blocks)}
        for name, value in weights.items():
            owner, _, attribute = name.rpartition("/")
            getattr(layers[owner] if owner else self, attribute).assign(value)

    def get_config(self):
        return {**super().get_config(), "freeze_layers": self.freeze_layers}


def rotation(
    places: tf.Tensor, width: int, theta: float, dtype: str
) -> tuple[tf.Tensor, tf.Tensor]:
    """Cosines and sines [S, width] of the angles by which the vectors of S places are turned.

    Reference: Su et al., 2021, "RoFormer", Eq. 34, with pairs (k, k + width / 2).
    """
    speeds = (1.0 / theta ** (np.arange(0, width, 2, dtype=np.float32) / width)).astype(np.float32)
    angles = tf.expand_dims(tf.cast(places, tf.float32), 1) * np.concatenate([speeds, speeds])
    return tf.cast(tf.cos(angles), dtype), tf.cast(tf.sin(angles), dtype)


def subword_part(
    rows: SubwordRows, lengths: tf.Tensor, seed: PartSeed
) -> tuple[SubwordRows, PartSeed]:
    """Selects the rows of a part's sentences, from those of a batch with lengths [B] int32.

    They are as wide as those of the batch. The seed, also given, then knows the part's place among
    the windows, sub-words and words of the batch.
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
        rows.sizes[words[0] : words[0] + words[1]],
        rows.sentences[chosen] - first,
    )
    return part, seed.with_spans(**{WINDOWS: windows, SUBWORDS: subwords, WORDS: words})


def _span(sizes: tf.Tensor, before: tf.Tensor, inside: tf.Tensor) -> tf.Tensor:
    """[3]: the sum of the sizes before the part, of those in it, and of all."""
    parts = [tf.where(before, sizes, 0), tf.where(inside, sizes, 0), sizes]
    return tf.stack([tf.reduce_sum(part) for part in parts])
