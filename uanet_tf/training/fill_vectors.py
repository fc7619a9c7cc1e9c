"""Pretrained vectors for the vocabulary and the word embeddings."""

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from absl import logging

from uanet_lite.token_ids import FIRST_ID
from uanet_tf.config import Config, DataConfig
from uanet_tf.data.lookup import normalize_words
from uanet_tf.data.vectors_file import read_vectors
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.models.tagger import Tagger
from uanet_tf.representation.pretrained_vectors import quantize
from uanet_tf.representation.word_representation import FormRepresentation

# Of learnt differences, in a saved model.
_STEP = np.float32(2**-8)


class Table(NamedTuple):
    """The pretrained vectors of a vocabulary's words, by their ids; see ``PretrainedVectors``."""

    rows: np.ndarray  # [V, D] int8
    scales: np.ndarray  # [V] float32; 0 for a word without a vector

    def digest(self, words: Iterable[str]) -> str:
        """SHA-256 of the vocabulary's words and of their vectors."""
        digest = hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(self.rows).data)
        digest.update(np.ascontiguousarray(self.scales).data)
        return digest.hexdigest()


def add_pretrained(
    config: Config, vocabulary: Vocabulary, counts: Mapping[str, int] | None = None
) -> tuple[Vocabulary, Table | None]:
    """Reads ``--word_vectors``, streamed: the first ``--vector_limit`` and the training words.

    Args:
      vocabulary: of the training data.
      counts: of all words of the training data; one too rare for the vocabulary joins it if
        it has a vector. None: those of the vocabulary.

    Returns:
      The vocabulary, grown by the file's words, and its table: a word has the vector of the word
      itself, or else of its lower case, or else of the first word of the file that is looked up in
      the same form. None without a file.

    Raises:
      InputError: the file cannot be read, or its width is not ``--word_width``.
    """
    path, width = config.data.word_vectors, config.representation.word_width
    if not path:
        return vocabulary, None
    if counts is None:
        counts = dict(zip(vocabulary.words, vocabulary.word_counts, strict=True))
    wanted = set(counts) | {word.lower() for word in counts}
    limit, asked = config.data.vector_limit, itertools.count(1)
    words, matrix = read_vectors(
        path,
        width=width,
        # Asked once for each word of the file.
        needed=(lambda word: next(asked) <= limit or word in wanted) if limit else None,
    )
    numbers = {word: number for number, word in enumerate(words)}
    forms = _forms(words, config.data)
    for number, form in enumerate(forms):
        numbers.setdefault(form, number)
    untrained = counts.keys() - set(vocabulary.words)
    rare = sorted(word for word in untrained if word in numbers or word.lower() in numbers)
    known = {*vocabulary.words, *rare}
    others = (form for form in dict.fromkeys(forms) if form not in known and _is_word(form))
    vocabulary = dataclasses.replace(
        vocabulary,
        words=(*vocabulary.words, *rare, *others),
        word_counts=vocabulary.word_counts + tuple(counts[word] for word in rare),
    )
    table = _table(vocabulary, numbers, matrix)
    _tell(vocabulary, table)
    return vocabulary, table


def _forms(words: list[str], config: DataConfig) -> list[str]:
    """The forms under which words are looked up."""
    changes = {"digits": config.normalize_digits, "lowercase": config.lowercase_words}
    forms = normalize_words(tf.constant(words, tf.string), **changes)
    return [form.decode("utf-8") for form in forms.numpy()]


def _is_word(form: str) -> bool:
    """Whether a line of an exported vocabulary can hold it, as it can every token of a file."""
    return bool(form) and "\n" not in form and "\r" not in form


def _table(vocabulary: Vocabulary, numbers: Mapping[str, int], matrix: np.ndarray) -> Table:
    found = np.array(
        [numbers.get(word, numbers.get(word.lower(), -1)) for word in vocabulary.words], np.int64
    )
    places = np.flatnonzero(found >= 0)
    rows, scales = quantize(matrix)
    size = len(vocabulary.words) + FIRST_ID
    table = Table(np.zeros([size, matrix.shape[1]], np.int8), np.zeros([size], np.float32))
    table.rows[places + FIRST_ID] = rows[found[places]]
    table.scales[places + FIRST_ID] = scales[found[places]]
    return table


def _tell(vocabulary: Vocabulary, table: Table) -> None:
    trained = vocabulary.num_trained
    found = int((table.scales[FIRST_ID : FIRST_ID + trained] > 0).sum())
    told = logging.info if found else logging.warning
    told(
        "%d of %d words have a pretrained vector; %d words beside them are known by theirs",
        found,
        trained,
        len(vocabulary.words) - trained,
    )


def fill_embeddings(tagger: Tagger, table: Table) -> None:
    """Puts pretrained vectors into the frozen table; what is learnt of such a word begins at 0."""
    for representation in word_representations(tagger):
        representation.pretrained.rows.assign(table.rows)
        representation.pretrained.scales.assign(table.scales)
        embeddings = representation.embeddings
        begun = table.scales[: embeddings.shape[0], None] > 0
        embeddings.assign(np.where(begun, 0, embeddings.numpy()))


def round_differences(tagger: Tagger) -> None:
    """Rounds what was learnt of words with pretrained vectors: a saved model is smaller for it.

    The steps are a fifth of those of the frozen table, whose rounding labels hardly feel.
    """
    for representation in word_representations(tagger):
        if representation.pretrained is not None:
            embeddings = representation.embeddings
            embeddings.assign(np.rint(embeddings.numpy() / _STEP) * _STEP)


def word_representations(tagger: Tagger) -> Iterable[FormRepresentation]:
    """Every layer of a tagger that owns a word embedding."""
    owners: list[Any] = [tagger.drafter.representation]
    if tagger.refiner is not None:
        owners.append(tagger.refiner.representation)
    return [owner for owner in owners if isinstance(owner, FormRepresentation)]
