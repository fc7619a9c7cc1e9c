"""Tokens to sub-words inside the graph, as BERT's own tokenizer splits text."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.data.bert_spec import UNKNOWN
from uanet_tf.data.entries import Entries
from uanet_tf.data.token_lookup import normalize_words
from uanet_tf.errors import InputError

MAX_SUBWORDS = 32
# A longer run of characters between blanks and punctuation is one unknown word.
_MAX_CHARS = 100
_MAX_BYTES = 4 * _MAX_CHARS
_PUNCTUATION = r"[!-/:-@\[-`{-~]|\p{P}"
_CHINESE = (
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class SubwordLookup(tf.keras.layers.Layer):
    """Maps distinct tokens to the ids of their sub-words (WordPiece).

    A token is cleaned of control characters, split at punctuation and, each part by itself,
    into the longest sub-words of the vocabulary. What is left without any is unknown: every
    token has at least one sub-word.

    Args:
      vocabulary: sub-words; "##" begins one that continues a word.
      lowercase: lower-case the tokens.
      strip_accents: remove accents.
      split_chinese: make every Chinese character a word of its own.
      max_subwords: most sub-words read per token; the rest is left out.

    Call arguments:
      tokens: [U] strings, UTF-8; bytes that are not are left out.

    Returns:
      [U, S] int32: position in the vocabulary + 1, 0 at padding; S the most sub-words of a
      token, at least 1.

    Raises:
      InputError: tensorflow-text is not installed, or cannot use the vocabulary.

    Reference:
      Devlin et al., 2019; Song et al., 2021, "Fast WordPiece Tokenization". Equal to the
      tokenizer of Google's and Hugging Face's BERTs on every Unicode character.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        lowercase: bool = True,
        strip_accents: bool = True,
        split_chinese: bool = True,
        max_subwords: int = MAX_SUBWORDS,
        **kwargs,
    ):
        super().__init__(trainable=False, **kwargs)
        if max_subwords < 1:
            raise ValueError(
                f"`max_subwords` must be at least 1. Received: max_subwords={max_subwords}"
            )
        self._vocabulary = Entries(list(vocabulary))
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.split_chinese = split_chinese
        self.max_subwords = max_subwords
        self._text = _tensorflow_text()
        self._split = self._make_splitter()

    @property
    def vocabulary(self) -> list[str]:
        """Sub-words from id 0 of BERT on."""
        return self._vocabulary.values

    def _make_splitter(self):
        try:
            return self._text.FastWordpieceTokenizer(
                self.vocabulary,
                token_out_type=tf.int32,
                unknown_token=UNKNOWN,
                no_pretokenization=True,
                max_bytes_per_word=_MAX_BYTES,
            )
        except RuntimeError as error:
            raise InputError(f"The BERT vocabulary cannot be used: {error}") from error

    def call(self, tokens: tf.Tensor) -> tf.Tensor:
        parts = self._parts(tokens)  # [U, (parts)]
        ids = self._split.tokenize(parts).merge_dims(1, 2) + 1  # [U, (sub-words)]
        ids = ids[:, : self.max_subwords].to_tensor()  # [U, S]
        ids = tf.pad(ids, [[0, 0], [0, tf.maximum(0, 1 - tf.shape(ids)[1])]])
        # An unknown sub-word where there is none.
        empty = tf.pad(tf.equal(ids[:, :1], 0), [[0, 0], [0, tf.shape(ids)[1] - 1]])
        return tf.where(empty, self.vocabulary.index(UNKNOWN) + 1, ids)

    def form_features(self, tokens: tf.Tensor) -> dict[str, tf.Tensor]:
        """What a call returns, under the name by which a representation reads it."""
        return {"form_subword_ids": self(tokens)}

    def _parts(self, tokens: tf.Tensor) -> tf.RaggedTensor:
        """Words of each token: the parts between blanks, each punctuation mark by itself."""
        replace = tf.strings.regex_replace
        text = tf.strings.unicode_transcode(tokens, "UTF-8", "UTF-8", errors="replace")
        text = replace(text, r"[\t\n\r\p{Z}]", " ")
        text = replace(text, r"\p{C}|\x{FFFD}", "")
        if self.lowercase:
            text = normalize_words(text, digits=False, lowercase=True)
        if self.strip_accents:
            text = replace(self._text.normalize_utf8(text, "NFD"), r"\p{Mn}", "")
        alone = f"{_PUNCTUATION}|{_CHINESE}" if self.split_chinese else _PUNCTUATION
        parts = tf.strings.split(replace(text, f"({alone})", r" \1 "))
        long = tf.strings.length(parts.flat_values, "UTF8_CHAR") > _MAX_CHARS
        return parts.with_flat_values(tf.where(long, UNKNOWN, parts.flat_values))

    def get_config(self):
        config = super().get_config()
        config.pop("trainable", None)
        config.update(
            vocabulary=self.vocabulary,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            split_chinese=self.split_chinese,
            max_subwords=self.max_subwords,
        )
        return config


def _tensorflow_text():
    try:
        import tensorflow_text
    except ImportError as error:
        raise InputError(
            "BERT needs the package tensorflow-text, which cannot be imported "
            f"({error}): install tensorflow-text==2.15.0."
        ) from None
    return tensorflow_text
