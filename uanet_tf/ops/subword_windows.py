"""Sentences as rows of sub-words, in overlapping windows where they are too long for one."""

from typing import NamedTuple

import tensorflow as tf

CONTEXT = 64


class SubwordRows(NamedTuple):
    """The input of an encoder, and the positions of words in its output.

    R rows of at most S sub-words, W words.

    Attributes:
      ids: [R, S] int32, 0 at padding.
      mask: [R, S] boolean, True = sub-word, right-padded.
      places: [W, 2] int64, row and column of each word's first sub-word; in the order of the
        sentences and of their words.
      sizes: [W] int32, the sub-words of each word that follow one another from there in its row.
      sentences: [R] int32, the sentence of each row.
    """

    ids: tf.Tensor
    mask: tf.Tensor
    places: tf.Tensor
    sizes: tf.Tensor
    sentences: tf.Tensor


def subword_rows(
    subwords: tf.Tensor, *, size: int, first_id: int, last_id: int, context: int = CONTEXT
) -> SubwordRows:
    """Joins the sub-words of each sentence's words, between a first and a last one.

    A sentence of more than ``size - 2`` sub-words is read in windows that overlap, each between the
    first and the last sub-word. A word's place is in the window in which it has at least
    ``context`` sub-words on both sides, or all up to the sentence's end. The rows of a sentence do
    not depend on other sentences.

    Args:
      subwords: [B, T, S] int32 ids of each word's sub-words, 0 where there is none: right-padded,
        none at padding.
      size: most sub-words in a row, the first and the last one included; at least 3.
      first_id, last_id: ids that begin and end a row ([CLS], [SEP]).
      context: at most a quarter of a row is used, so that windows advance by at least half of it.
    """
    real = subwords > 0
    sizes = tf.reduce_sum(tf.cast(real, tf.int32), axis=2)  # [B, T]
    totals = tf.reduce_sum(sizes, axis=1)  # [B]

    room = size - 2
    context = min(context, room // 4)
    stride = room - 2 * context
    counts = 1 + tf.maximum(0, (totals - room + stride - 1) // stride)  # windows of each sentence
    first_rows = tf.cumsum(counts, exclusive=True)
    sentence = tf.repeat(tf.range(tf.size(totals)), counts)  # [R]
    number = tf.range(tf.size(sentence)) - tf.gather(first_rows, sentence)
    total = tf.gather(totals, sentence)
    # The last window is moved back to be as long as the others.
    start = tf.minimum(number * stride, tf.maximum(total - room, 0))  # [R]
    length = tf.minimum(total - start, room)

    # All sub-words one after another, and then a padding one.
    flat = tf.concat([tf.boolean_mask(subwords, real), [0]], axis=0)
    begin = tf.gather(tf.cumsum(totals, exclusive=True), sentence) + start
    width = tf.reduce_max(tf.concat([[0], length], axis=0)) + 2
    column = tf.expand_dims(tf.range(width), 0)  # [1, S]
    length = tf.expand_dims(length, 1)
    inside = (column > 0) & (column <= length)
    index = tf.where(inside, tf.expand_dims(begin, 1) + column - 1, tf.size(flat) - 1)
    ids = tf.gather(flat, index)
    ids = tf.where(column == 0, first_id, tf.where(column == length + 1, last_id, ids))

    words = tf.where(sizes > 0)  # [W, 2]
    offset = tf.gather_nd(tf.cumsum(sizes, axis=1, exclusive=True), words)
    of_sentence = words[:, 0]
    window = tf.clip_by_value((offset - context) // stride, 0, tf.gather(counts, of_sentence) - 1)
    row = tf.gather(first_rows, of_sentence) + window
    first = offset - tf.gather(start, row) + 1
    places = tf.cast(tf.stack([row, first], axis=1), tf.int64)
    room_left = tf.gather(length[:, 0], row) + 1 - first  # only a very short row cuts a word off
    sizes = tf.minimum(tf.gather_nd(sizes, words), room_left)
    return SubwordRows(ids, column <= length + 1, places, sizes, sentence)
