"""Tokens to features inside the graph: one implementation for training, tagging and serving."""

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import tensorflow as tf

from uanet_lite.sentence import check_unicode
from uanet_lite.token_ids import FIRST_ID, UNKNOWN_ID
from uanet_tf.config import DataConfig
from uanet_tf.data.subword_lookup import SubwordLookup, lower_case
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.ops.shapes import filled_size

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Entries(Generic[T]):
    """Hides a list of plain values from Keras.

    Keras searches every list of a layer whenever it collects layers or weights: with
    20,000 words that was a third of the time of loading a model.
    """

    values: list[T]


# Letters that inflected forms of a name mostly share, case aside.
PREFIX_LETTERS = 5
# Below this all keys lie, so that a document's number fits above them in an int64.
_BUCKETS = 2**31 - 1
KEYS = ("word_keys", "prefix_keys")


def word_keys(tokens: tf.Tensor) -> dict[str, tf.Tensor]:
    """Keys of strings of any shape: equal for the same word, and for words that begin alike.

    {name of ``KEYS``: int64 of that shape, at least 0}: hashes of the word as it is written, and of
    its first letters in lower case.
    """
    lower = tf.strings.lower(tokens, encoding="utf-8")
    prefixes = tf.strings.substr(lower, 0, PREFIX_LETTERS, unit="UTF8_CHAR")
    return {
        name: tf.strings.to_hash_bucket_fast(strings, _BUCKETS)
        for name, strings in zip(KEYS, (tokens, prefixes), strict=True)
    }


def in_document(keys: tf.Tensor, documents: tf.Tensor) -> tf.Tensor:
    """Keys of ``word_keys`` made equal within a document only, int64.

    ``documents``, the numbers of the documents, are broadcast against ``keys``.
    """
    return tf.cast(documents, tf.int64) * _BUCKETS + keys


def document_features(tokens: tf.Tensor, documents: tf.Tensor) -> dict[str, tf.Tensor]:
    """What a refiner that reads documents needs beside the features of ``look_up``.

    ``document`` [B] int32, equal in rows of one document, and keys [B, T] of ``tokens``, T at least
    1; those at padding are not read.
    """
    tokens = tf.pad(tokens, [[0, 0], [0, tf.maximum(0, 1 - tf.shape(tokens)[1])]])
    return {"document": tf.cast(documents, tf.int32), **word_keys(tokens)}


def normalize_words(tokens: tf.Tensor, *, digits: bool, lowercase: bool) -> tf.Tensor:
    """UTF-8 words as they are looked up.

    With ``digits`` each digit, of any script, is 0; with ``lowercase`` see ``lower_case``.
    """
    if digits:
        tokens = tf.strings.regex_replace(tokens, r"\p{Nd}", "0")
    return lower_case(tokens) if lowercase else tokens


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TokenLookup(tf.keras.layers.Layer):
    """Maps distinct tokens to word ids and character ids.

    Args:
      words: words from id 2 on, as ``normalize_words`` gives them.
      chars: characters from id 2 on.
      normalize_digits: read every digit as 0, in words and characters.
      max_chars: characters read of a word; a longer one keeps its two ends, which
        tell more about its class than its middle.

    Call arguments:
      tokens: [U] strings, UTF-8; an invalid byte counts as U+FFFD.

    Returns:
      word_ids [U] int32 (1: unknown) and char_ids [U, W] int32 (0: padding, 1: unknown),
      W the length of the longest token, at most ``max_chars``, at least 1.
    """

    def __init__(
        self,
        words: list[str],
        chars: list[str],
        *,
        normalize_digits: bool = True,
        lowercase_words: bool = False,
        max_chars: int = 40,
        **kwargs,
    ):
        super().__init__(trainable=False, **kwargs)
        if max_chars < 2:
            raise ValueError(f"`max_chars` must be at least 2. Received: max_chars={max_chars}")
        self._words = Entries(list(words))
        self._chars = Entries(list(chars))
        self.normalize_digits = normalize_digits
        self.lowercase_words = lowercase_words
        self.max_chars = max_chars
        codes = [ord(char) for char in self.chars]
        self._tables = {
            "words": _table(tf.constant(self.words, tf.string)),
            "chars": _table(tf.constant(codes, tf.int64)),
        }

    @property
    def words(self) -> list[str]:
        """Words from id 2 on."""
        return self._words.values

    @property
    def chars(self) -> list[str]:
        """Characters from id 2 on."""
        return self._chars.values

    def call(self, tokens: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        words = normalize_words(
            tokens, digits=self.normalize_digits, lowercase=self.lowercase_words
        )
        word_ids = tf.cast(self._tables["words"].lookup(words), tf.int32)  # [U]

        spelled = normalize_words(tokens, digits=self.normalize_digits, lowercase=False)
        codes = tf.strings.unicode_decode(spelled, "UTF-8", errors="replace")  # [U, (W)]
        lengths = tf.cast(codes.row_lengths(), tf.int32)
        position = tf.cast(tf.ragged.range(lengths).flat_values, tf.int32)
        length = tf.gather(lengths, codes.value_rowids())
        head = self.max_chars // 2
        tail = self.max_chars - head
        kept = (length <= self.max_chars) | (position < head) | (position >= length - tail)
        codes = tf.ragged.boolean_mask(codes, codes.with_flat_values(kept))
        ids = tf.cast(codes.flat_values, tf.int64)
        ids = codes.with_flat_values(tf.cast(self._tables["chars"].lookup(ids), tf.int32))
        char_ids = ids.to_tensor()  # [U, W]
        # An empty batch, or one of empty tokens, still has one (padding) character.
        missing = tf.maximum(0, 1 - tf.shape(char_ids)[1])
        return word_ids, tf.pad(char_ids, [[0, 0], [0, missing]])

    def form_features(self, tokens: tf.Tensor) -> dict[str, tf.Tensor]:
        """What a call returns, under the names by which a representation reads it."""
        word_ids, char_ids = self(tokens)
        return {"form_word_ids": word_ids, "form_char_ids": char_ids}

    @contextlib.contextmanager
    def tables(self, **tables: tf.lookup.StaticHashTable) -> Iterator[None]:
        """Within this context, looks up in other tables of the same content: an export's files.

        ``words`` is from normalised words, ``chars`` from code points, to ids.
        """
        own = self._tables
        self._tables = {**own, **tables}
        try:
            yield
        finally:
            self._tables = own

    def get_config(self):
        config = super().get_config()
        config.pop("trainable", None)
        config.update(
            words=self.words,
            chars=self.chars,
            normalize_digits=self.normalize_digits,
            lowercase_words=self.lowercase_words,
            max_chars=self.max_chars,
        )
        return config


def _table(keys: tf.Tensor) -> tf.lookup.StaticHashTable:
    values = tf.range(FIRST_ID, FIRST_ID + tf.size(keys), dtype=tf.int32)
    if not keys.shape[0]:
        # TensorFlow makes no empty table: it gets one key with the value of all unknown ones.
        keys, values = tf.zeros([1], keys.dtype), tf.constant([UNKNOWN_ID])
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
    return tf.lookup.StaticHashTable(initializer, default_value=UNKNOWN_ID)


def pad(sentences: Sequence[Sequence[str]]) -> dict[str, np.ndarray]:
    """Sentences as the arrays that ``model.predict`` takes.

    Args:
      sentences: lists of words, or arrays of strings.

    Returns:
      {"tokens": [B, T] strings, "" after the last word; "lengths": [B] int32}. T is the length
      of the longest sentence, at least 1.

    Raises:
      InputError: something is not a list of words; names its position.

    Example:
      >>> uanet_tf.labels_of(model.predict(uanet_tf.pad([["Chelsea", "won"], ["Yes"]])))
      [["B-ORG", "O"], ["O"]]
    """
    if isinstance(sentences, str):
        raise InputError("sentences must be lists of words; uanet_tf.tag takes text.")
    if isinstance(sentences, Mapping | set | frozenset) or not isinstance(sentences, Iterable):
        raise InputError(f"sentences must be a list of lists of words. Received: {sentences!r:.60}")
    rows = [_checked(sentence, index) for index, sentence in enumerate(sentences)]
    lengths = np.array([len(row) for row in rows], np.int32)
    tokens = np.full([len(rows), max([1, *map(len, rows)])], "", dtype=object)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = row
    return {"tokens": tokens, "lengths": lengths}


def labels_of(predictions: Mapping[str, Any], name: str = "labels") -> list[list[str]]:
    """The labels that ``model.predict`` gives, as lists of Python's strings without padding.

    Args:
      predictions: what ``model.predict``, or a call of the model or of a signature, gives.
      name: which labels: "labels", "draft_labels" or "refined_labels".

    Returns:
      A list for each sentence, with a label for each of its tokens.

    Raises:
      InputError: there are no such labels.

    Example:
      >>> predictions = model.predict(uanet_tf.pad([["Chelsea", "won"], ["Yes"]]))
      >>> uanet_tf.labels_of(predictions)
      [["B-ORG", "O"], ["O"]]
    """
    if not isinstance(predictions, Mapping) or name not in predictions:
        raise InputError(
            f"predictions must be what model.predict gives, with {name!r:.60}. "
            f"Received: {predictions!r:.60}"
        )
    rows = np.asarray(predictions[name]).tolist()
    texts = ([x.decode() if isinstance(x, bytes) else str(x) for x in row] for row in rows)
    return [[label for label in row if label] for row in texts]


def check_predict_input(inputs: Any) -> None:
    """Raises InputError for texts, lists of words, a bare array, lengths that are not integers."""
    given = inputs.values() if isinstance(inputs, Mapping) else [inputs]
    bare = inputs is None or (not isinstance(inputs, Mapping) and hasattr(inputs, "dtype"))
    if bare or any(isinstance(value, str | list | tuple) for value in given):
        raise InputError(
            'model.predict takes a dictionary of the arrays "tokens" and "lengths": '
            "model.predict(uanet_tf.pad(sentences)) for lists of words. "
            "uanet_tf.tag(model, sentences) takes lists of words and text as they are."
        )
    of_batches = getattr(inputs, "element_spec", inputs)  # of a dataset
    if isinstance(of_batches, Mapping) and "lengths" in of_batches:
        check_lengths(of_batches["lengths"])


def check_lengths(lengths: Any) -> None:
    """Raises InputError for lengths that are not integers: fractions would be cut off."""
    kind = np.dtype(getattr(lengths.dtype, "as_numpy_dtype", lengths.dtype))
    if not np.issubdtype(kind, np.integer):
        raise InputError(f"lengths must be integers. Received: an array of {kind.name}.")


def _checked(sentence: Sequence[str], index: int) -> list[str]:
    is_list = isinstance(sentence, Sequence) and not isinstance(sentence, str | bytes)
    is_list |= isinstance(sentence, np.ndarray) and sentence.ndim == 1
    if not is_list or not all(isinstance(token, str) for token in sentence):
        raise InputError(f"sentences[{index}] must be a list of words. Received: {sentence!r:.60}")
    for position, token in enumerate(sentence):
        check_unicode(token, f"sentences[{index}][{position}]")
    return list(sentence)


Lookup = TokenLookup | SubwordLookup


def make_lookup(config: DataConfig, vocabulary: Vocabulary) -> Lookup:
    """The lookup of a vocabulary; one with a pretrained encoder reads sub-words as it does."""
    if vocabulary.pretrained is not None:
        return SubwordLookup(vocabulary.pretrained.tokenizer, name="lookup")
    return TokenLookup(
        list(vocabulary.words),
        list(vocabulary.chars),
        normalize_digits=config.normalize_digits,
        lowercase_words=config.lowercase_words,
        max_chars=config.max_chars,
        name="lookup",
    )


# Memory grows with the tokens of a batch: a sentence made to fill it is refused at once.
ONE_PIECE_TOKENS = 4_096


def look_up(
    lookup: Lookup, tokens: tf.Tensor, lengths: tf.Tensor, most_tokens: int = ONE_PIECE_TOKENS
) -> dict[str, tf.Tensor]:
    """Features of sentences, [B, T] strings and [B] lengths; each distinct token is looked up once.

    The ``lookup.form_features`` of the distinct tokens, filled up to U; form_index [B, T] and
    lengths [B], int32. T is at least 1. Strings at or beyond ``lengths`` are ignored.

    Raises:
      InputError: the lengths are not integers.
      InvalidArgumentError: a length is negative, or beyond the width of ``tokens``; or that is
        beyond ``most_tokens``.
    """
    lengths = tf.convert_to_tensor(lengths)
    check_lengths(lengths)
    lengths = tf.cast(lengths, tf.int32)
    with tf.control_dependencies([check_width(tokens, most_tokens)]):
        tokens = tf.identity(tokens)
    width = tf.shape(tokens)[1]
    tf.debugging.assert_less_equal(lengths, width, "A length is beyond the width of tokens.")
    tf.debugging.assert_non_negative(lengths, "A length is negative.")
    # A batch of only empty sentences still has one (padding) column.
    tokens = tf.pad(tokens, [[0, 0], [0, tf.maximum(0, 1 - width)]])
    width = tf.shape(tokens)[1]
    # Whatever a client or server put into the padding becomes the same token.
    tokens = tf.where(sequence_mask(lengths, width), tokens, "")
    # The padding token comes first, so that an empty batch still has a form.
    forms, index = tf.unique(tf.concat([[""], tf.reshape(tokens, [-1])], axis=0))
    count = tf.size(forms)
    forms = tf.pad(forms, [[0, filled_size(count) - count]])
    return {
        **lookup.form_features(forms),
        "form_index": tf.reshape(index[1:], tf.shape(tokens)),
        "lengths": lengths,
    }


def look_up_inputs(
    lookup: Lookup, inputs: Mapping[str, tf.Tensor], most_tokens: int
) -> dict[str, tf.Tensor]:
    """``look_up`` of the inputs of a model: ``tokens``, ``lengths`` and maybe ``document`` [B].

    Raises InvalidArgumentError: see ``look_up``.
    """
    features = look_up(lookup, inputs["tokens"], inputs["lengths"], most_tokens)
    if "document" in inputs:
        features |= document_features(inputs["tokens"], inputs["document"])
    return features


def check_width(batch: tf.Tensor, most_tokens: int = ONE_PIECE_TOKENS) -> tf.Operation:
    """Fails with InvalidArgument for a batch [B, T, ...] of too many tokens in a sentence."""
    return tf.debugging.assert_less_equal(
        tf.shape(batch)[1],
        most_tokens,
        f"More than {most_tokens} tokens in a sentence: split it, or tag it in windows, as "
        "uanet_tf.tag does.",
    )
