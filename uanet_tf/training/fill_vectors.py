"""Pretrained vectors for the vocabulary and the word embeddings."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.token_ids import FIRST_ID
from uanet_tf.config import Config
from uanet_tf.data.lookup import normalize_words
from uanet_tf.data.vectors_file import read_vectors
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.models.tagger import Tagger
from uanet_tf.representation.word_representation import FormRepresentation


def add_pretrained(
    config: Config, vocabulary: Vocabulary, counts: Mapping[str, int] | None = None
) -> tuple[Vocabulary, dict[str, np.ndarray]]:
    """Reads ``--word_vectors``, streamed, keeping only the words of ``--vector_words``.

    Args:
      config: the file, and which words of it are wanted.
      vocabulary: of the training data.
      counts: of all words of the training data; one too rare for the vocabulary joins it if
        it has a vector. None: those of the vocabulary.

    Returns:
      The vocabulary, with ``--vector_words=all`` grown by the file's words, and the vector
      of each of its words that has one: under the word itself, or else in lower case.

    Raises:
      InputError: the file cannot be read, or its width is not ``--word_width``.
    """
    path, width = config.data.word_vectors, config.representation.word_width
    if not path:
        return vocabulary, {}
    if counts is None:
        counts = dict(zip(vocabulary.words, vocabulary.word_counts, strict=True))
    wanted = set(counts) | {word.lower() for word in counts}
    keep_all = config.data.vector_words == "all"
    words, matrix = read_vectors(
        path, width=width, needed=None if keep_all else wanted.__contains__
    )
    rows = dict(zip(words, matrix, strict=True))
    extra = {word for word in counts if word in rows or word.lower() in rows}
    if keep_all:
        # A word is found under its normalised form only; its own vector comes before that of
        # another word with the same form.
        data = config.data
        forms = normalize_words(
            tf.constant(words, tf.string),
            digits=data.normalize_digits,
            lowercase=data.lowercase_words,
        )
        for form, vector in zip(forms.numpy(), matrix, strict=True):
            rows.setdefault(form.decode("utf-8"), vector)
        extra |= {form.decode("utf-8") for form in forms.numpy()}
    added = sorted(extra - set(vocabulary.words))
    vocabulary = dataclasses.replace(
        vocabulary,
        words=vocabulary.words + tuple(added),
        word_counts=vocabulary.word_counts + tuple(counts.get(word, 0) for word in added),
    )
    vectors = {}
    for word in vocabulary.words:
        vector = rows.get(word, rows.get(word.lower()))
        if vector is not None:
            vectors[word] = vector
    told = logging.info if vectors or not config.data.word_vectors else logging.warning
    told("%d of %d words have a pretrained vector", len(vectors), len(vocabulary.words))
    return vocabulary, vectors


def fill_embeddings(tagger: Tagger, vectors: dict[str, np.ndarray]) -> None:
    """Puts pretrained vectors into every word embedding of the tagger."""
    numbered = [
        (number + FIRST_ID, vectors[word])
        for number, word in enumerate(tagger.vocabulary.words)
        if word in vectors
    ]
    if not numbered:
        return
    ids, rows = zip(*numbered, strict=True)
    for representation in word_representations(tagger):
        update = tf.IndexedSlices(tf.constant(np.stack(rows)), tf.constant(ids))
        representation.embeddings.scatter_update(update)


def word_representations(tagger: Tagger) -> list[FormRepresentation]:
    """Every layer of a tagger that owns a word embedding."""
    owners: list[Any] = [tagger.drafter.representation]
    if tagger.refiner is not None:
        owners.append(tagger.refiner.representation)
    return [owner for owner in owners if isinstance(owner, FormRepresentation)]
