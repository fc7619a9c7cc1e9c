"""Chunks of output labels, inside the graph."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf

from uanet_lite.tag_schemes import split_label
from uanet_tf.ops.chain import chunk_boundaries


class Chunks(NamedTuple):
    """The S chunks of B sentences, sentence by sentence, from left to right.

    Attributes:
      counts: [B] int64, chunks of each sentence.
      types: [S] strings, such as "ORG".
      first, last: [S, 2] int64, sentence and position of their first and of their last token.
      inside: [B, T] boolean, the tokens of chunks.
      of_token: int32, for each token inside, in order, the number of its chunk.
    """

    counts: tf.Tensor
    types: tf.Tensor
    first: tf.Tensor
    last: tf.Tensor
    inside: tf.Tensor
    of_token: tf.Tensor


class OutputChunks:
    """Finds the chunks of label sequences in any tag scheme.

    Args:
      names: output labels, position = id.
    """

    def __init__(self, names: Sequence[str]):
        letters, types = zip(*map(split_label, names), strict=True)
        inside = [letter != "O" for letter in letters]
        self._type_names = tf.constant(["", *dict.fromkeys(types)])
        numbers = {name: number + 1 for number, name in enumerate(dict.fromkeys(types))}
        self._types = tf.constant(
            [numbers[name] if kept else 0 for name, kept in zip(types, inside, strict=True)]
        )
        self._starts = tf.constant([letter in "BSU" for letter in letters])
        self._ends = tf.constant([letter in "ESLU" for letter in letters])

    def __call__(self, label_ids: tf.Tensor, mask: tf.Tensor) -> Chunks:
        """The chunks of [B, T] label ids; none at padding."""
        types = tf.where(mask, tf.gather(self._types, label_ids), 0)
        begins, finishes, _ = chunk_boundaries(
            types, tf.gather(self._starts, label_ids), tf.gather(self._ends, label_ids), mask
        )
        inside, first = types > 0, tf.where(begins)
        return Chunks(
            counts=tf.reduce_sum(tf.cast(begins, tf.int64), axis=1),
            types=tf.gather(self._type_names, tf.gather_nd(types, first)),
            first=first,
            last=tf.where(finishes),
            inside=inside,
            of_token=tf.cumsum(tf.cast(tf.boolean_mask(begins, inside), tf.int32)) - 1,
        )
