"""Batches of similar lengths, in an order that seed and epoch fix, built in the graph."""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from uanet_tf.data.encoded_corpus import EncodedCorpus

# Batches whose sentences are sorted together: enough for little padding, few enough to
# leave the order random.
SORTED_BATCHES = 50


def plan_batches(
    lengths: np.ndarray,
    *,
    batch_size: int,
    batch_tokens: int,
    seed: int | None = None,
    epoch: int = 0,
    min_batches: int = 0,
) -> list[np.ndarray]:
    """Groups sentences of similar length into batches.

    Args:
      lengths: [S] tokens of each sentence.
      batch_size: most sentences in a batch.
      batch_tokens: most tokens in a batch, padding included; a longer single sentence
        still makes a batch.
      seed: of the order for training, new in each epoch; None: sorted by length, for tagging.
      epoch: number of the pass.
      min_batches: with a seed, least number of batches: all sentences are read as often as that
        takes, each time in another order.

    Returns:
      Arrays of sentence numbers; each sentence is in exactly one, or in one of each reading.
    """
    if seed is None:
        return list(_split(np.argsort(lengths, kind="stable"), lengths, batch_size, batch_tokens))
    batches = _shuffled(lengths, batch_size, batch_tokens, np.random.default_rng([seed, epoch]))
    readings = -(-min_batches // max(1, len(batches)))
    for reading in range(1, readings if batches else 1):
        random = np.random.default_rng([seed, epoch, reading])
        batches += _shuffled(lengths, batch_size, batch_tokens, random)
    return batches


def _shuffled(
    lengths: np.ndarray, batch_size: int, batch_tokens: int, random: np.random.Generator
) -> list[np.ndarray]:
    """Batches of all sentences once, in a random order."""
    order = random.permutation(len(lengths))
    window = batch_size * SORTED_BATCHES
    batches: list[np.ndarray] = []
    for start in range(0, len(order), window):
        part = order[start : start + window]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches.extend(_split(part, lengths, batch_size, batch_tokens))
    return [batches[k] for k in random.permutation(len(batches))]


def _split(
    order: np.ndarray, lengths: np.ndarray, batch_size: int, batch_tokens: int
) -> Iterator[np.ndarray]:
    """Cuts an order of non-decreasing lengths into batches."""
    start = 0
    for stop in range(1, len(order) + 1):
        full = stop - start >= batch_size
        # The next sentence is the longest so far, so it sets the padded width.
        crowded = stop < len(order) and (stop + 1 - start) * lengths[order[stop]] > batch_tokens
        if full or crowded or stop == len(order):
            yield order[start:stop]
            start = stop


class BatchBuilder:
    """Turns sentence numbers into dense features, inside tf.data.

    Features, for U distinct forms in the batch, B sentences, T tokens: those of
    the forms, [U] or [U, W], as wide as the longest of them needs; form_index [B, T] and
    lengths [B]. Labels: [B, T], 0 at padding. All int32. Of a corpus with documents also
    corpus_tokens [B, T], the numbers of the tokens in the corpus, -1 at padding.
    """

    def __init__(self, corpus: EncodedCorpus):
        self._forms = {name: tf.constant(values) for name, values in corpus.forms.items()}
        self._widths = {
            name: tf.constant(np.maximum((values > 0).sum(axis=1), 1), tf.int32)
            for name, values in corpus.forms.items()
            if values.ndim == 2
        }
        splits = tf.constant(corpus.offsets)
        self._numbers = None
        if corpus.documents is not None:
            numbers = tf.range(len(corpus.form_index))
            self._numbers = tf.RaggedTensor.from_row_splits(numbers, splits)
        self._index = tf.RaggedTensor.from_row_splits(corpus.form_index, splits)
        self._labels = tf.RaggedTensor.from_row_splits(corpus.label_ids, splits)

    def __call__(self, sentences: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        rows = tf.gather(self._index, sentences)
        dense = rows.to_tensor()  # [B, T]
        forms, index = tf.unique(tf.reshape(dense, [-1]))
        features = {name: tf.gather(values, forms) for name, values in self._forms.items()}
        for name, widths in self._widths.items():
            features[name] = features[name][:, : tf.reduce_max(tf.gather(widths, forms))]
        features |= {
            "form_index": tf.reshape(index, tf.shape(dense)),
            "lengths": tf.cast(rows.row_lengths(), tf.int32),
        }
        if self._numbers is not None:
            features["corpus_tokens"] = tf.gather(self._numbers, sentences).to_tensor(-1)
        return features, tf.gather(self._labels, sentences).to_tensor()


def batched_dataset(builder: BatchBuilder, plan) -> tf.data.Dataset:
    """A dataset of (features, labels), one element for each array of ``plan()``.

    Args:
      builder: of the corpus.
      plan: called at the start of each pass; returns the arrays of sentence numbers.
    """
    numbers = tf.data.Dataset.from_generator(
        lambda: iter(plan()), output_signature=tf.TensorSpec([None], tf.int64)
    )
    # Nothing is left to tune. The tuner sleeps for twice as long each time, and the end of a pass
    # waits until it wakes: up to as long as the pass took.
    fixed = tf.data.Options()
    fixed.autotune.enabled = False
    batches = numbers.map(builder, num_parallel_calls=2, deterministic=True).prefetch(4)
    return batches.with_options(fixed)
