"""Multi-head attention with relative positions, as functions of tensors."""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.masking import key_bias
from uanet_tf.ops.shapes import permute, reshape, sizes


def relative_shift(scores: tf.Tensor) -> tf.Tensor:
    """Returns element (r, j) = the score of query r of Q consecutive queries for key j.

    The queries have the positions i = first + r. Column c of ``scores`` belongs to distance
    first + Q - 1 - c, so the score of element (r, j), distance first + r - j, is at column
    Q - 1 - r + j: each row starts one column further left than the row above. Read as one line of
    numbers, rows of Q + T starting Q - 1 - r columns in are rows of Q + T - 1 that all start Q - 1
    numbers in; so two slices do it, without any index tensor.

    The columns are of the distances first + Q - 1 down to first - T, the last of which is not read;
    with all T queries these are T - 1 down to -T. From [N, B, Q, Q + T] floats: [N, B, Q, T].

    Reference: Dai et al., 2019, "Transformer-XL: Attentive Language Models beyond a Fixed-Length
      Context", appendix B, here for both directions.
    """
    shape = tf.shape(scores)
    outer, batch, count, columns = shape[0], shape[1], shape[2], shape[3]
    line = tf.reshape(scores, [outer, batch, count * columns])
    # Not by indices, whose gradient takes ten times as long as that of `tf.slice`.
    line = tf.slice(line, [0, 0, count - 1], [outer, batch, count * (columns - 1)])
    rows = tf.reshape(line, [outer, batch, count, columns - 1])
    return tf.slice(rows, [0, 0, 0, 0], [outer, batch, count, columns - count])  # [N, B, Q, T]


def sinusoid(distances: tf.Tensor, width: int, dtype=tf.float32) -> tf.Tensor:
    """R_d [N, width] for each signed distance d [N]: sines in the first half, then cosines.

    Frequency k is 10000^(-2k/width). The sines change sign with the distance, the cosines do not,
    so that left and right stay distinguishable. An odd width has one sine more. The angles are
    computed in float32 at least, whatever the ``dtype`` of the result.

    Reference: Vaswani et al., 2017, "Attention Is All You Need", section 3.5; signed as in Yan et
      al., 2019, "TENER: Adapting Transformer Encoder for Named Entity Recognition".
    """
    sines = (width + 1) // 2
    frequencies = [10000.0 ** (-2.0 * k / width) for k in range(sines)]
    angles = tf.expand_dims(tf.cast(distances, tf.float32), 1) * tf.constant(frequencies)
    features = [tf.sin(angles), tf.cos(angles[:, : width - sines])]
    return tf.cast(tf.concat(features, axis=1), dtype)  # [N, width]


class Distances(NamedTuple):
    """R, the signed distances of the tokens of a sentence of T tokens, as sinusoids.

    Attributes:
      sinusoids: [N, W] floats, a row for each distance, the largest first.
      rows: [2T] int32, the rows of the distances from T - 1 down to -T. None: they are the rows.
    """

    sinusoids: tf.Tensor
    rows: tf.Tensor | None = None


def relative_distances(
    length: int | tf.Tensor, width: int, dtype=tf.float32, lite: LiteGraph | None = None
) -> Distances:
    """R of a sentence of ``length`` tokens; see ``LiteGraph.longest``.

    TensorFlow Lite takes longer for the sinusoids of a sentence than for the attention that reads
    them. Of a table the position keys are one too, a constant of a graph with constant weights.
    """
    longest = 0 if lite is None else lite.longest
    ascending = tf.range(longest or length)
    # The last one is never read: with it the shift needs no padding.
    descending = tf.concat([ascending[::-1], -1 - ascending], axis=0)
    sinusoids = sinusoid(descending, width, dtype)
    if not longest:
        return Distances(sinusoids)
    after = tf.range(length)
    # The middle row is for -1.
    rows = longest + tf.concat([after - length, after], axis=0)
    return Distances(sinusoids, tf.clip_by_value(rows, 0, 2 * longest - 1))


def position_keys(kernel: tf.Tensor, distances: Distances) -> tf.Tensor:
    """Returns W_kR R, a column for each distance of a sentence, as ``relative_shift`` reads them.

    From W_kR [W, V], ``kernel``, and R: [V, 2T] floats, for distances from T - 1 down to -T.
    """
    if distances.rows is None:
        return tf.matmul(kernel, distances.sinusoids, transpose_a=True, transpose_b=True)
    table = tf.matmul(distances.sinusoids, tf.convert_to_tensor(kernel))  # [N, V]
    return tf.transpose(tf.gather(table, distances.rows))


# Scores of a block, in numbers: 16 MB of float32, several times which exist at once.
MOST_CELLS = 1 << 22

# (number of the first query, how many queries) -> [B, Q, W]; (0, None): all of them.
Attend = Callable[[int | tf.Tensor, tf.Tensor | None], tf.Tensor]


def in_query_blocks(
    attend: Attend,
    count: tf.Tensor,
    width: int,
    dtype: tf.DType,
    *,
    cells_per_query: tf.Tensor,
    whole: bool = False,
) -> tf.Tensor:
    """Calls ``attend`` for all Q queries at once, or one block after another where there are many.

    Queries are independent of one another, so the results [B, Q, W] are the same.

    Args:
      count, width, dtype: Q, a scalar; W and dtype of what ``attend`` returns.
      cells_per_query: scores that one query of each sentence and head makes: a scalar.
      whole: always all at once, as in training, where a loop would keep each block's results, and
        in TensorFlow Lite, which copies all that a loop reads at each step.
    """
    if whole:
        return attend(0, None)
    size = tf.maximum(1, MOST_CELLS // tf.maximum(1, cells_per_query))

    def loop() -> tf.Tensor:
        results = tf.TensorArray(
            dtype, size=-(-count // size), infer_shape=False, element_shape=[None, None, width]
        )
        # One after another: several at once would take the memory of several.
        _, results = tf.while_loop(
            lambda number, _: number * size < count, block, (0, results), parallel_iterations=1
        )
        return permute(results.concat(), [1, 0, 2])  # [B, Q, W]

    def block(number, results):
        result = attend(number * size, tf.minimum(size, count - number * size))  # [B, Q', W]
        return number + 1, results.write(number, permute(result, [1, 0, 2]))

    return tf.cond(count <= size, lambda: attend(0, None), loop)


def queries_of(
    inputs: tf.Tensor, axis: int, first: int | tf.Tensor, count: tf.Tensor | None
) -> tf.Tensor:
    """Those that ``attend`` is asked for, along an axis of queries."""
    if count is None:
        return inputs
    return inputs[(slice(None),) * axis + (slice(first, first + count),)]


def split_heads(inputs: tf.Tensor, parts: int, num_heads: int) -> list[tf.Tensor]:
    """Splits [B, T, parts * h * d] into ``parts`` tensors [h, B, T, d] by one transposition."""
    batch, length, width = sizes(inputs)
    head_width = width // (parts * num_heads)
    split = reshape(inputs, [batch, length, parts * num_heads, head_width])
    heads = permute(split, [2, 0, 1, 3])  # [parts * h, B, T, d]
    # Not by indices: their gradients fill each part up with zeros, and add all.
    return tf.split(heads, parts) if parts > 1 else [heads]


def merge_heads(inputs: tf.Tensor) -> tf.Tensor:
    """Concatenates the heads of [h, B, T, d] to [B, T, h * d]."""
    num_heads, batch, length, head_width = sizes(inputs)
    merged = permute(inputs, [1, 2, 0, 3])  # [B, T, h, d]
    return reshape(merged, [batch, length, num_heads * head_width])


def position_scores(
    queries: tf.Tensor, positions: tf.Tensor, first: int | tf.Tensor = 0
) -> tf.Tensor:
    """Returns q_i . p_{i-j} [h, B, Q, T] for Q consecutive queries i and all keys j.

    Args:
      queries: [h, B, Q, d] floats.
      positions: [h * d, 2T] floats, a column p for each distance from T - 1 down to -T.
      first: position of the first of the queries, a scalar tensor; 0: all T are queries.
    """
    num_heads, batch, count, head_width = sizes(queries)
    if tf.is_tensor(first):  # not all T
        length = tf.shape(positions)[1] // 2
        start = length - first - count
        positions = positions[:, start : start + count + length]  # distances that occur
    columns = tf.shape(positions)[1]
    keys = reshape(positions, [num_heads, head_width, columns])
    folded = reshape(queries, [num_heads, batch * count, head_width])
    scores = tf.matmul(folded, keys)  # [h, B * Q, 2T], or [h, B * Q, Q + T]
    if queries.shape[1] == 1:
        scores = tf.expand_dims(scores, 1)
    else:
        scores = tf.reshape(scores, [num_heads, batch, count, columns])
    return relative_shift(scores)


def position_scores_of(
    queries: tf.Tensor, positions: tf.Tensor, query_positions: tf.Tensor
) -> tf.Tensor:
    """The same [K, h, T] for K queries [K, h, d] of any sentences of T tokens.

    ``query_positions`` [K] int32 are the positions i of the queries.
    """
    _, num_heads, head_width = sizes(queries)
    length = tf.shape(positions)[1] // 2
    keys = reshape(positions, [num_heads, head_width, tf.shape(positions)[1]])
    # The columns of the distances i - j for all keys j.
    columns = tf.range(length) - tf.expand_dims(query_positions, -1) + length - 1  # [K, T]
    columns = tf.tile(tf.expand_dims(columns, 1), [1, num_heads, 1])
    return tf.gather(tf.einsum("khd,hdp->khp", queries, keys), columns, batch_dims=2)


def attend(
    scores: tf.Tensor,
    values: tf.Tensor,
    mask: tf.Tensor | None,
    drop: Callable[[tf.Tensor], tf.Tensor],
) -> tf.Tensor:
    """Returns the means [h, B, queries, d] of ``values``, weighted by the softmax of ``scores``.

    Args:
      scores: [h, B, queries, T] floats.
      values: [h, B, T, d] floats.
      mask: [B, T] booleans, True = token; padding keys get no weight. None: no padding.
      drop: what drops weights, of the shape of ``scores``.
    """
    if mask is not None:
        scores += key_bias(mask, scores.dtype)
    return tf.matmul(drop(tf.nn.softmax(scores)), values)
