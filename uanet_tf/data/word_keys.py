"""Numbers by which words of a document are recognised as mentions of one another."""

import tensorflow as tf

# Letters that inflected forms of a name mostly share, case aside.
PREFIX_LETTERS = 5
# Below this all keys lie, so that a document's number fits above them in an int64.
_BUCKETS = 2**31 - 1
KEYS = ("word_keys", "prefix_keys")


def word_keys(tokens: tf.Tensor) -> dict[str, tf.Tensor]:
    """Keys of strings: equal for the same word, and for words that begin alike.

    Args:
      tokens: strings of any shape.

    Returns:
      {name: int64 of that shape, at least 0}, a name of ``KEYS`` each: hashes of the word as it is
      written, and of its first letters in lower case.
    """
    lower = tf.strings.lower(tokens, encoding="utf-8")
    prefixes = tf.strings.substr(lower, 0, PREFIX_LETTERS, unit="UTF8_CHAR")
    return {
        name: tf.strings.to_hash_bucket_fast(strings, _BUCKETS)
        for name, strings in zip(KEYS, (tokens, prefixes), strict=True)
    }


def in_document(keys: tf.Tensor, documents: tf.Tensor) -> tf.Tensor:
    """Keys that are equal within a document only: int64 of the shape of ``keys``.

    Args:
      keys: of ``word_keys``.
      documents: numbers of documents, broadcast against the keys.
    """
    return tf.cast(documents, tf.int64) * _BUCKETS + keys


def document_features(tokens: tf.Tensor, documents: tf.Tensor) -> dict[str, tf.Tensor]:
    """What a refiner that reads documents needs beside the features of ``look_up``.

    Args:
      tokens: [B, T] strings; those at padding are not read.
      documents: [B] integers: rows of equal number are sentences of one document.

    Returns:
      ``document`` [B] int32 and the keys [B, T] of the words; T is at least 1.
    """
    tokens = tf.pad(tokens, [[0, 0], [0, tf.maximum(0, 1 - tf.shape(tokens)[1])]])
    return {"document": tf.cast(documents, tf.int32), **word_keys(tokens)}
