"""Streams of a block for some tokens of one sentence, all at once (Eq. 7 and 8)."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from uanet_tf.layers.attention_stream import AttentionStream
from uanet_tf.layers.relative_attention import QueryTokens, after
from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.numerics import layer_norm, linear
from uanet_tf.ops.shapes import permute

Map = tuple[tf.Tensor, tf.Tensor]


class SentenceStream(NamedTuple):
    """A stream, and what it reads of a sentence of T tokens, K of which are queries.

    Attributes:
      layer: the stream's weights.
      context: [1, T, D] floats, what it attends to.
      context_map: a kernel [D, .] and a bias [.], the linear map of it that is read; None: itself.
      residual: [K, W] floats, what the attention is added to; None: the words.
    """

    layer: AttentionStream
    context: tf.Tensor
    context_map: Map | None = None
    residual: tf.Tensor | None = None


def sentence_streams(
    streams: Sequence[SentenceStream],
    words: tf.Tensor,
    word_map: Map | None,
    positions: tf.Tensor,
    query_tokens: QueryTokens,
    mask: tf.Tensor | None = None,
) -> list[tf.Tensor]:
    """Returns what each stream gives for K tokens.

    As an `AttentionStream`, by few operations: those of a sentence take the time of their start,
    whether they are of one stream or of all. Their sizes are known before they run: TensorFlow Lite
    plans its memory anew behind each of the others.

    Args:
      streams: of the same sizes.
      words: [1, T, D] floats, whose rows are the queries.
      word_map: a kernel [D, W] and a bias [W], the linear map of `words` that is read, or None.
      positions: [h, 2T, d] floats, a row R for each distance from T - 1 down to -T.
      query_tokens: the K tokens.
      mask: [1, T] booleans, True = token. None: no padding.

    Returns:
      Of each stream [K, W] floats, W = h * d.
    """
    words, queries = _queries(streams, query_tokens.rows(words), word_map)  # [K, W], [S, h, K, d]
    attended = _attend(streams, queries, positions, query_tokens, mask)  # [S, K, W]
    residuals = [words if stream.residual is None else stream.residual for stream in streams]
    if all(residual is words for residual in residuals):
        residuals = residuals[:1]  # of each stream
    layers = [stream.layer for stream in streams]

    def product(rows, name):
        kernel, bias = (
            tf.stack([getattr(layer, f"{name}_{part}") for layer in layers])
            for part in ("kernel", "bias")
        )
        # Transposed here, where it can be done once, and not by the product.
        kernel = tf.transpose(kernel, [0, 2, 1])
        return tf.matmul(rows, kernel, transpose_b=True) + tf.expand_dims(bias, 1)

    def norm(rows, name):
        scale, offset = zip(*[getattr(layer, f"{name}_norm") for layer in layers], strict=True)
        return layer_norm(rows, *(tf.expand_dims(tf.stack(part), 1) for part in (scale, offset)))

    outputs = norm(product(attended, "output") + tf.stack(residuals), "attention")
    hidden = tf.nn.relu(product(outputs, "hidden"))
    outputs = norm(outputs + product(hidden, "feedforward"), "feedforward")
    return tf.unstack(outputs)


def _queries(streams, rows, word_map) -> tuple[tf.Tensor, tf.Tensor]:
    """The words as the streams read them, [K, W]; queries + u, by the root of d, [S, h, K, d]."""
    kernels, biases = [], []
    for stream in streams:
        attention = stream.layer.attention
        scale = attention.head_width**-0.5
        kernel, bias = after(word_map, attention.kernels()[0])
        kernels.append(kernel * scale)
        biases.append((attention.content_bias + (0.0 if bias is None else bias)) * scale)
    if word_map is not None:
        kernels.append(word_map[0])
        biases.append(word_map[1])
    projected = linear(rows, tf.concat(kernels, axis=1), tf.concat(biases, axis=0))
    if word_map is not None:
        width = word_map[0].shape[1]
        projected, rows = tf.split(projected, [projected.shape[1] - width, width], axis=1)
    attention = streams[0].layer.attention
    shape = [-1, len(streams), attention.num_heads, attention.head_width]
    return rows, permute(tf.reshape(projected, shape), [1, 2, 0, 3])


def _attend(streams, queries, positions, query_tokens, mask) -> tf.Tensor:
    """The means of the values, [S, K, h * d]."""
    attentions = [stream.layer.attention for stream in streams]
    num_heads, head_width = attentions[0].num_heads, attentions[0].head_width
    length, own = query_tokens.sentence_length, query_tokens.own_positions
    kernels = [_context_kernels(stream) for stream in streams]

    instead = [(one.position_bias - one.content_bias) * head_width**-0.5 for one in attentions]
    instead = tf.reshape(tf.stack(instead), [len(streams), num_heads, 1, head_width])
    scores = _position_scores(queries + instead, positions, own, length)  # [S, h, K, T]
    # Stream by stream: all 8-bit weights of one tensor have one scale, and these differ much.
    by_content = []
    for stream, asking, (keys, _, _) in zip(streams, tf.unstack(queries), kernels, strict=True):
        asked = tf.matmul(asking, keys, transpose_b=True)  # [h, K, D]
        by_content.append(tf.matmul(asked, stream.context, transpose_b=True))
    scores += tf.stack(by_content)
    if mask is not None:
        scores += key_bias(mask, scores.dtype)  # [1, 1, T]
    outputs = []
    weights = tf.unstack(tf.nn.softmax(scores))
    for stream, weight, (_, values, _) in zip(streams, weights, kernels, strict=True):
        means = tf.matmul(weight, stream.context)  # [h, K, D]
        outputs.append(tf.matmul(means, values, transpose_b=True))  # [h, K, d]
    merged = permute(tf.stack(outputs), [0, 2, 1, 3])  # [S, K, h, d]
    merged = tf.reshape(merged, [len(streams), -1, num_heads * head_width])
    merged += tf.expand_dims(tf.stack([bias for _, _, bias in kernels]), 1)
    return merged


def _context_kernels(stream) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """W_k [h, D, d], W_v [h, d, D] and b_v [h * d] of a stream's context."""
    attention = stream.layer.attention
    kernel, bias = after(stream.context_map, attention.kernels()[1])
    if bias is None:
        bias = tf.zeros([2 * attention.width], kernel.dtype)
    heads = tf.reshape(kernel, [-1, 2 * attention.num_heads, attention.head_width])
    keys, values = tf.split(tf.transpose(heads, [1, 0, 2]), 2)  # [h, D, d]
    return keys, tf.transpose(values, [0, 2, 1]), bias[attention.width :]


def _position_scores(queries, positions, query_positions, length) -> tf.Tensor:
    """p_i . R_{i-j} of queries [S, h, K, d] for all keys j, [S, h, K, T]."""
    count, num_heads, *_ = queries.shape
    by_distance = tf.matmul(queries, tf.expand_dims(positions, 0), transpose_b=True)  # [.., 2T]
    # The columns of the distances i - j.
    last = tf.reshape(length - 1 - query_positions, [1, 1, -1, 1])
    columns = tf.tile(tf.range(length) + last, [count, num_heads, 1, 1])  # [S, h, K, T]
    return tf.gather(by_distance, columns, batch_dims=3)
