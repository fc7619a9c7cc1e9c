"""Tokens to ids inside the graph: one implementation for training, tagging and serving."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

from uanet_tf.data.entries import Entries
from uanet_tf.data.vocabulary import FIRST_ID, UNKNOWN_ID

# TensorFlow lower-cases by the rules of the process's locale. These are the letters for which
# Turkish, Azeri and Lithuanian have rules of their own; every server reads them alike.
_LOCAL_LETTERS = {
    "I": "i",
    "İ": "i\u0307",
    "J": "j",
    "Į": "į",
    "Ì": "ì",
    "Í": "í",
    "Ĩ": "ĩ",
}


def normalize_words(tokens: tf.Tensor, *, digits: bool, lowercase: bool) -> tf.Tensor:
    """Returns the form under which words are looked up.

    Args:
      tokens: string tensor, UTF-8.
      digits: replace every decimal digit, of any script, by 0.
      lowercase: lower-case, by Unicode's rules, whatever the locale.
    """
    if digits:
        tokens = tf.strings.regex_replace(tokens, r"\p{Nd}", "0")
    if lowercase:
        for capital, small in _LOCAL_LETTERS.items():
            tokens = tf.strings.regex_replace(tokens, capital, small)
        tokens = tf.strings.lower(tokens, encoding="utf-8")
    return tokens


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class TokenLookup(tf.keras.layers.Layer):
    """Maps distinct tokens to word ids and character ids.

    Args:
      words: words from id 2 on, as ``normalize_words`` gives them.
      chars: characters from id 2 on.
      normalize_digits: read every digit as 0, in words and characters.
      lowercase_words: look words up in lower case.
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

        Args:
          tables: ``words``, from normalised words, and ``chars``, from code points, to ids.
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
