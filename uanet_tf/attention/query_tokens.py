"""The tokens whose outputs are wanted: queries of attention, rows of what follows it."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.ops.fill_rows import fill_rows


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
