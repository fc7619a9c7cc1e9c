"""The rows of sub-words of some sentences of a batch, and where they are in the whole."""

import tensorflow as tf

from uanet_tf.ops.dropout import SENTENCES, PartSeed
from uanet_tf.ops.subword_windows import SubwordRows

# What the rows of BERT's dropped tensors stand for.
WINDOWS, SUBWORDS, WORDS = "windows", "subwords", "words"


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
