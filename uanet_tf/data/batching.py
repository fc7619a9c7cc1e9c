"""A corpus as arrays, and its batches, in an order that seed and epoch fix.

Batches hold sentences of similar lengths, are built in the graph, and can be shared among replicas.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import tensorflow as tf

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import convert
from uanet_tf.data.lookup import Lookup, word_keys
from uanet_tf.data.vocabulary import INTERNAL_SCHEME, Vocabulary
from uanet_tf.ops.dropout import SENTENCES, PartSeed, Seed


@dataclasses.dataclass(frozen=True)
class EncodedCorpus:
    """Sentences of one file to be batched: F distinct tokens ("forms"), S sentences, N tokens.

    Attributes:
      forms: the lookup's features of every form, [F] or [F, W] int32, 0 at padding; see
        ``TokenLookup.form_features`` and ``SubwordLookup.form_features``.
      form_index: [N] int32, the form of each token, sentences one after another.
      label_ids: [N] int32; -1 for a label that the model does not know, or that was not read.
      offsets: [S + 1] int64, where each sentence begins in ``form_index``.
      documents: [P + 1] int64, with which sentence each document begins; None: not needed.
      keys: K times [N] int64, see ``data.word_keys``; none without documents.
    """

    forms: dict[str, np.ndarray]
    form_index: np.ndarray
    label_ids: np.ndarray
    offsets: np.ndarray
    documents: np.ndarray | None = None
    keys: tuple[np.ndarray, ...] = ()

    @property
    def lengths(self) -> np.ndarray:
        """[S] tokens of each sentence."""
        return np.diff(self.offsets)

    def joined(self, counts: Sequence[int]) -> "EncodedCorpus":
        """The same tokens with ``counts`` [P] sentences each read as one, in order."""
        ends = np.concatenate([[0], np.cumsum(counts)])
        return dataclasses.replace(self, offsets=self.offsets[ends])

    def in_documents(self, counts: Sequence[int], tokens: Sequence[str]) -> "EncodedCorpus":
        """The same sentences, ``counts`` [P] of which are a document each; with all N tokens."""
        distinct, index = np.unique(np.asarray(tokens, object), return_inverse=True)
        keys = word_keys(tf.constant(distinct, tf.string))
        return dataclasses.replace(
            self,
            documents=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            keys=tuple(key.numpy()[index] for key in keys.values()),
        )


def encode_corpus(
    sentences: Sequence[Sentence], vocabulary: Vocabulary, lookup: Lookup
) -> EncodedCorpus:
    """Looks up every distinct token once and stores sentences as indices."""
    forms: dict[str, int] = {}
    index = [forms.setdefault(token, len(forms)) for s in sentences for token in s.tokens]
    known = {label: number for number, label in enumerate(vocabulary.labels)}
    labels = []
    for sentence in sentences:
        given = internal_labels(sentence.labels, vocabulary.scheme)
        labels += [known.get(label, -1) for label in given] or [-1] * len(sentence.tokens)
    features = lookup.form_features(tf.constant(list(forms), tf.string))
    lengths = [len(sentence.tokens) for sentence in sentences]
    return EncodedCorpus(
        forms={name: values.numpy() for name, values in features.items()},
        form_index=np.asarray(index, np.int32),
        label_ids=np.asarray(labels, np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def internal_labels(labels: Sequence[str], scheme: str | None) -> Sequence[str]:
    """Labels as the model predicts them: chunks in BIOES, others as they are."""
    return labels if scheme is None else convert(labels, scheme, INTERNAL_SCHEME)


# Batches sorted together: enough for little padding, few enough to leave the order random.
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
    """Groups sentences of similar length into batches, arrays of their numbers.

    Each sentence is in exactly one, or in one of each reading.

    Args:
      lengths: [S] tokens of each sentence.
      batch_size: most sentences in a batch.
      batch_tokens: most in a batch, padding included; a longer single sentence still makes one.
      seed: of the order for training, new in each epoch; None: sorted by length, for tagging.
      epoch: number of the pass.
      min_batches: with a seed, least number of batches: all sentences are read as often as that
        takes, each time in another order.
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
    """(features, labels) of each array of sentence numbers that ``plan()`` gives for a pass."""
    numbers = tf.data.Dataset.from_generator(
        lambda: iter(plan()), output_signature=tf.TensorSpec([None], tf.int64)
    )
    # Nothing is left to tune. The tuner sleeps for twice as long each time, and the end of a pass
    # waits until it wakes: up to as long as the pass took.
    fixed = tf.data.Options()
    fixed.autotune.enabled = False
    batches = numbers.map(builder, num_parallel_calls=2, deterministic=True).prefetch(4)
    return batches.with_options(fixed)


# Features of a part, beside those of a batch: [3] int32, its first sentence, its sentences, those
# of the batch; and what the batch has of all sentences.
PART, BATCH_INDEX, BATCH_LENGTHS = "part", "batch_form_index", "batch_lengths"


def part_of_batch(
    features: Mapping[str, tf.Tensor], labels: tf.Tensor, number: tf.Tensor | int, parts: int
) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
    """Part ``number`` of a batch: as many sentences as the others, or one more or less.

    It has the width T and the distinct forms of the batch, see ``BatchBuilder``. A part without a
    sentence gets one of another part, with ``part[1]`` = 0, which must not count.
    """
    total = tf.shape(labels)[0]
    number = tf.cast(number, tf.int32)
    first = number * total // parts
    count = (number + 1) * total // parts - first
    rows = tf.minimum(first + tf.range(tf.maximum(count, 1)), total - 1)
    part = {
        **features,
        "form_index": tf.gather(features["form_index"], rows),
        "lengths": tf.gather(features["lengths"], rows),
        BATCH_INDEX: features["form_index"],
        BATCH_LENGTHS: features["lengths"],
        PART: tf.stack([first, count, total]),
    }
    return part, tf.gather(labels, rows)


def part_seed(features: Mapping[str, tf.Tensor], seed: tf.Tensor) -> Seed:
    """The batch's seed, [2] int32, such that a part gets the masks that it has in the batch."""
    if PART not in features:
        return seed
    first, count, total = tf.unstack(features[PART], num=3)
    # The one sentence of a part that has none.
    first, count = tf.minimum(first, total - 1), tf.maximum(count, 1)
    return PartSeed(seed, {SENTENCES: tf.stack([first, count, total])})
