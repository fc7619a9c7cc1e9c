"""Tokens to ids of sub-words inside the graph: WordPiece, BPE of bytes, SentencePiece unigram."""

import base64
import dataclasses
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from uanet_tf.data.encoder_spec import BPE, UNIGRAM, WORDPIECE, TokenizerSpec
from uanet_tf.errors import InputError, one_line
from uanet_tf.tensorflow_stack import tensorflow_text

MAX_SUBWORDS = 32
_WHO = "A pretrained encoder"
# A longer run of characters between blanks and punctuation is one unknown word of WordPiece.
_MAX_CHARS = 100
# More bytes of one piece of a token are not read by BPE, whose time grows with their square.
_MAX_BYTES = 256
_PUNCTUATION = r"[!-/:-@\[-`{-~]|\p{P}"
_CHINESE = (
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b820-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)
# The pieces that BPE reads by themselves (Radford et al., 2019, "GPT-2").
_SPACE = r"[\s\p{Z}\x{0b}\x{85}]"
_OTHER = r"[^\s\p{Z}\x{0b}\x{85}\p{L}\p{N}]"
_PIECES = rf"'s|'t|'re|'ve|'m|'ll|'d| ?\p{{L}}+| ?\p{{N}}+| ?{_OTHER}+|{_SPACE}+"


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class SubwordLookup(tf.keras.layers.Layer):
    """Maps distinct tokens to the ids of their sub-words.

    Every token has at least one sub-word: one of which nothing is left is unknown. What looks like
    a special sub-word, such as "[SEP]", is text.

    Args:
      max_subwords: most sub-words read per token; the rest is left out.

    Call arguments:
      tokens: [U] strings, UTF-8; bytes that are not count as U+FFFD.

    Returns:
      [U, S] int32: position in the vocabulary + 1, 0 at padding; S the most sub-words of a
      token, at least 1.

    Raises:
      InputError: tensorflow-text is not installed, or cannot use the vocabulary.

    Reference:
      Devlin et al., 2019; Song et al., 2021, "Fast WordPiece Tokenization"; Sennrich et al., 2016;
      Kudo and Richardson, 2018, "SentencePiece". Ids are those of the package tokenizers.
    """

    def __init__(
        self,
        tokenizer: TokenizerSpec | Mapping[str, Any],
        *,
        max_subwords: int = MAX_SUBWORDS,
        **kwargs,
    ):
        super().__init__(trainable=False, **kwargs)
        if max_subwords < 1:
            raise ValueError(
                f"`max_subwords` must be at least 1. Received: max_subwords={max_subwords}"
            )
        if not isinstance(tokenizer, TokenizerSpec):
            tokenizer = TokenizerSpec.from_dict(tokenizer)
        self.tokenizer = tokenizer
        self.max_subwords = max_subwords
        self._text = tensorflow_text(_WHO)
        try:
            self._charsmap = _CharacterMap(tokenizer) if tokenizer.charsmap else tf.identity
            self._split = _SPLITTERS[tokenizer.kind](tokenizer, self._text)
        except (RuntimeError, ValueError, tf.errors.OpError) as error:
            raise InputError(f"The vocabulary cannot be used: {one_line(error)}") from error

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Sub-words from id 0 of the encoder on."""
        return self.tokenizer.vocabulary

    def call(self, tokens: tf.Tensor) -> tf.Tensor:
        text = tf.strings.unicode_transcode(tokens, "UTF-8", "UTF-8", errors="replace")
        for name, *arguments in self.tokenizer.steps:
            text = self._charsmap(text) if name == "charsmap" else _STEPS[name](text, *arguments)
        ids = (self._split(text) + 1)[:, : self.max_subwords].to_tensor()  # [U, S]
        ids = tf.pad(ids, [[0, 0], [0, tf.maximum(0, 1 - tf.shape(ids)[1])]])
        # An unknown sub-word where there is none.
        empty = tf.pad(tf.equal(ids[:, :1], 0), [[0, 0], [0, tf.shape(ids)[1] - 1]])
        return tf.where(empty, self.tokenizer.unknown + 1, ids)

    def form_features(self, tokens: tf.Tensor) -> dict[str, tf.Tensor]:
        """What a call returns, under the name by which a representation reads it."""
        return {"form_subword_ids": self(tokens)}

    def get_config(self):
        config = super().get_config()
        config.pop("trainable", None)
        tokenizer = {**dataclasses.asdict(self.tokenizer), "steps": list(self.tokenizer.steps)}
        return {**config, "tokenizer": tokenizer, "max_subwords": self.max_subwords}


def _clean(text: tf.Tensor) -> tf.Tensor:
    """Blanks for white space, nothing for control characters."""
    text = tf.strings.regex_replace(text, r"[\t\n\r\p{Z}]", " ")
    return tf.strings.regex_replace(text, r"\p{C}|\x{FFFD}", "")


# TensorFlow lower-cases by the rules of the process's locale. These are the letters for which
# Turkish, Azeri and Lithuanian have rules of their own; every server reads them alike.
_LOCAL_LETTERS = {"I": "i", "İ": "i\u0307", "J": "j", "Į": "į", "Ì": "ì", "Í": "í", "Ĩ": "ĩ"}


def lower_case(text: tf.Tensor) -> tf.Tensor:
    """Lower case by Unicode's rules, whatever the locale."""
    for capital, small in _LOCAL_LETTERS.items():
        text = tf.strings.regex_replace(text, capital, small)
    return tf.strings.lower(text, encoding="utf-8")


def _normal(text: tf.Tensor, form: str) -> tf.Tensor:
    return tensorflow_text(_WHO).normalize_utf8(text, form)


_STEPS: dict[str, Callable[..., tf.Tensor]] = {
    "clean": _clean,
    "chinese": lambda text: tf.strings.regex_replace(text, f"({_CHINESE})", r" \1 "),
    "accents": lambda text: tf.strings.regex_replace(_normal(text, "NFD"), r"\p{Mn}", ""),
    # Each letter by itself: no final sigma.
    "lower": lambda text: lower_case(tf.strings.regex_replace(text, "Σ", "σ")),
    "marks": lambda text: tf.strings.regex_replace(text, r"\p{M}", ""),
    "form": _normal,
    "replace": tf.strings.regex_replace,
}
# No text: what a character that has no place in a map is mapped to.
_NO_TEXT = b"\xff"


class _CharacterMap(tf.Module):
    """SentencePiece's normalisation of characters, as the package tokenizers does it.

    A character with its marks is looked up as a whole where it has less than six bytes: the
    shortest beginning that the map has then stands for all of it. Else each character is looked up.
    """

    def __init__(self, spec: TokenizerSpec):
        super().__init__()
        keys, values = zip(*read_charsmap(base64.b64decode(spec.charsmap)), strict=True)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.constant(keys), tf.constant(values)),
            default_value=_NO_TEXT,
        )

    def __call__(self, text: tf.Tensor) -> tf.Tensor:
        rows = tf.strings.unicode_split(text, "UTF-8")  # [U, (characters)]
        chars, row = rows.flat_values, rows.value_rowids()
        is_mark = tf.strings.regex_full_match(chars, r"[\p{M}\x{200c}\x{200d}]")
        starts = tf.concat([[True], tf.not_equal(row[1:], row[:-1])], axis=0)[: tf.size(row)]
        is_control = tf.strings.regex_full_match(chars, r"\p{C}") & ~is_mark
        starts |= ~is_mark | tf.concat([[False], is_control], axis=0)[: tf.size(row)]
        cluster = tf.cumsum(tf.cast(starts, tf.int32)) - 1
        size = tf.gather(tf.math.segment_sum(tf.strings.length(chars), cluster), cluster)
        begun, best = chars, self.table.lookup(chars)
        single = tf.where(tf.equal(best, _NO_TEXT), chars, best)
        for ahead in (1, 2):  # four characters have no less than six bytes, or are no cluster
            more = [[0, tf.minimum(ahead, tf.size(chars))]]
            later, same = tf.pad(chars[ahead:], more), tf.pad(cluster[ahead:] + 1, more) - 1
            begun = tf.where(tf.equal(same, cluster), begun + later, begun)
            best = tf.where(tf.equal(best, _NO_TEXT), self.table.lookup(begun), best)
        whole = starts & (size < 6) & tf.not_equal(best, _NO_TEXT)
        found = tf.gather(tf.math.segment_max(tf.cast(whole, tf.int32), cluster), cluster) > 0
        mapped = tf.where(whole, best, tf.where(found, "", single))
        return tf.strings.reduce_join(rows.with_flat_values(mapped), axis=-1)


_MOST_NODES = 2_000_000  # that of XLM-R has 262,842


def read_charsmap(data: bytes) -> list[tuple[bytes, bytes]]:
    """The texts that SentencePiece's map of characters replaces, each with what it is replaced by.

    The map is the size of a trie in bytes, the trie (a double array of darts-clone, as read in
    sentencepiece/src/normalizer.cc), and the texts, each with a zero at its end. Raises ValueError
    if it is none.
    """
    size = int.from_bytes(data[:4], "little")
    if size % 4 or not 0 < size <= len(data) - 4:
        raise ValueError("its map of characters is cut off")
    units = np.frombuffer(data, np.uint32, size // 4, 4).astype(np.int64)
    texts, labels, pairs = data[4 + size :], units & (1 << 31 | 255), []
    every = np.array([-1, *range(1, 256)])  # no key goes on after its zero

    def children(places: np.ndarray) -> np.ndarray:
        return places ^ (units[places] >> 10 << ((units[places] & 1 << 9) >> 6))

    keys, nodes, seen = [b""], np.zeros(1, np.int64), 0
    while len(nodes) and len(keys[0]) < 64:
        longer, found = [], []
        for start in range(0, len(nodes), 4096):
            places = children(nodes[start : start + 4096, np.newaxis]) ^ np.arange(256)
            places = np.where(places < len(units), places, 0)
            rows, last = np.nonzero(labels[places] == every)
            found.append(places[rows, last])
            pairs_of = zip(rows.tolist(), last.tolist(), strict=True)
            longer += [keys[start + row] + bytes([byte]) for row, byte in pairs_of]
            if seen + len(longer) > _MOST_NODES:
                raise ValueError("its map of characters is damaged: it has circles")
        keys, nodes, seen = longer, np.concatenate(found), seen + len(longer)
        for leaf in np.flatnonzero(units[nodes] >> 8 & 1):
            begin = int(units[children(nodes[leaf])]) & (1 << 31) - 1
            pairs.append((keys[leaf], texts[begin : texts.index(b"\0", begin)]))
    return pairs


class _WordPiece(tf.Module):
    """[U] strings to the ids of [U, (sub-words)]: the longest that the vocabulary has, in turn."""

    def __init__(self, spec: TokenizerSpec, tensorflow_text):
        super().__init__()
        self.unknown = spec.vocabulary[spec.unknown]
        self.words = tensorflow_text.FastWordpieceTokenizer(
            list(spec.vocabulary),
            token_out_type=tf.int32,
            unknown_token=self.unknown,
            no_pretokenization=True,
            max_bytes_per_word=4 * _MAX_CHARS,
        )

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        # The parts between blanks, each punctuation mark by itself.
        alone = tf.strings.regex_replace(text, f"({_PUNCTUATION})", r" \1 ")
        parts = tf.strings.split(alone)  # [U, (parts)]
        long = tf.strings.length(parts.flat_values, "UTF8_CHAR") > _MAX_CHARS
        parts = parts.with_flat_values(tf.where(long, self.unknown, parts.flat_values))
        return self.words.tokenize(parts).merge_dims(1, 2)


class _Unigram(tf.Module):
    """The same: the most probable sub-words, by SentencePiece."""

    def __init__(self, spec: TokenizerSpec, tensorflow_text):
        super().__init__()
        self.pieces = tensorflow_text.SentencepieceTokenizer(model=sentencepiece_model(spec))

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self.pieces.tokenize(text)


class _BytePairs(tf.Module):
    """The same: bytes, of which the first pair in the list of merges is merged, again and again."""

    def __init__(self, spec: TokenizerSpec, tensorflow_text):
        super().__init__()
        self.text, self.size = tensorflow_text, len(spec.vocabulary)
        numbers = {word: number for number, word in enumerate(spec.vocabulary)}
        self.of_bytes = np.array([numbers.get(char, -1) for char in byte_chars()], np.int32)
        pairs = [merge.split(" ") for merge in spec.merges]
        known = [p for p in pairs if len(p) == 2 and {*p, "".join(p)} <= numbers.keys()]
        if (self.of_bytes < 0).any() or len(known) < len(pairs) or not pairs:
            raise ValueError("it lacks a byte or a part of a merge")
        keys = [numbers[left] * self.size + numbers[right] for left, right in known]
        self.merged = np.array([numbers[left + right] for left, right in known], np.int32)
        self.ranks = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(keys, tf.int64), tf.range(len(keys), dtype=tf.int32)
            ),
            default_value=len(keys),
        )

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        pieces = self.text.regex_split(text, _PIECES, _PIECES)  # [U, (pieces)]
        flat = tf.strings.substr(pieces.flat_values, 0, _MAX_BYTES)
        chars = tf.strings.bytes_split(flat)  # [P, (bytes)]
        values = tf.cast(tf.io.decode_raw(chars.flat_values, tf.uint8)[:, 0], tf.int32)
        ids = chars.with_flat_values(tf.gather(self.of_bytes, values)).to_tensor(-1)  # [P, L]
        ids = tf.pad(ids, [[0, 0], [0, 1]], constant_values=-1)
        (ids,) = tf.while_loop(
            lambda ids: tf.reduce_any(self._rank(ids) < len(self.merged)),
            lambda ids: (self._merge(ids),),
            (ids,),
            shape_invariants=(tf.TensorShape([None, None]),),
        )
        merged = tf.RaggedTensor.from_tensor(ids, padding=-1)  # [P, (sub-words)]
        return pieces.with_flat_values(merged).merge_dims(1, 2)

    def _rank(self, ids: tf.Tensor) -> tf.Tensor:
        """[P, L - 1]: the place of each pair of neighbours in the list of merges."""
        left, right = tf.cast(ids[:, :-1], tf.int64), tf.cast(ids[:, 1:], tf.int64)
        return self.ranks.lookup(
            tf.where(right < 0, tf.constant(-1, tf.int64), left * self.size + right)
        )

    def _merge(self, ids: tf.Tensor) -> tf.Tensor:
        """Merges one pair in each row that has any."""
        rank = self._rank(ids)
        best = tf.reduce_min(rank, axis=1, keepdims=True)  # [P, 1]
        found = best < len(self.merged)
        place = tf.where(found, tf.expand_dims(tf.argmin(rank, 1, tf.int32), 1), tf.shape(ids)[1])
        column = tf.expand_dims(tf.range(tf.shape(ids)[1]), 0)
        next_ids = tf.pad(ids[:, 1:], [[0, 0], [0, 1]], constant_values=-1)
        new = tf.gather(self.merged, tf.where(found, best, 0))
        return tf.where(column < place, ids, tf.where(column > place, next_ids, new))


_SPLITTERS: dict[str, type] = {WORDPIECE: _WordPiece, UNIGRAM: _Unigram, BPE: _BytePairs}


def byte_chars() -> list[str]:
    """The character that stands for each byte in vocabularies of BPE (Radford et al., 2019)."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte if byte in shown else next(others)) for byte in range(256)]


# A message of protocol buffers is a sequence of fields: number and type of the value, and it.
_VARINT, _BYTES, _FLOAT = 0, 2, 5
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3


def sentencepiece_model(spec: TokenizerSpec) -> bytes:
    """A unigram tokenizer as the file of SentencePiece (sentencepiece_model.proto)."""
    model = bytearray()  # bytes would be copied for each of 250,000 sub-words
    for number, (piece, score) in enumerate(zip(spec.vocabulary, spec.scores, strict=True)):
        kind = _NORMAL if score < 0 else _CONTROL
        kind = _UNKNOWN if number == spec.unknown else kind
        text = _field(1, piece.encode("utf-8")) + b"\x15" + struct.pack("<f", score)
        model += _field(1, text + bytes([0x18, kind]))
    # Steps have done what it would do: put a blank before, trim, mark blanks.
    nothing = (1024).to_bytes(4, "little") + bytes(1025)  # a map, without which it tells
    normaliser = _field(1, b"identity") + _field(2, nothing) + bytes([0x18, 0, 0x20, 0, 0x28, 0])
    return bytes(model + _field(2, bytes([0x18, 1])) + _field(3, normaliser))


def _field(number: int, value: bytes) -> bytes:
    size, length = b"", len(value)
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | _BYTES]) + size + bytes([length]) + value


def read_message(data: bytes) -> list[tuple[int, Any]]:
    """The fields of a message of protocol buffers; raises ValueError if it is none."""
    place, fields = 0, []

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            value |= (data[place] & 127) << shift
            place, shift = place + 1, shift + 7
            if data[place - 1] < 128 or shift > 63:
                return value

    try:
        while place < len(data):
            key = number()
            value: Any
            if key & 7 == _VARINT:
                value = number()
            elif key & 7 == _FLOAT:
                (value,), place = struct.unpack_from("<f", data, place), place + 4
            elif key & 7 == _BYTES:
                size = number()
                value, place = data[place : place + size], place + size
            else:
                raise ValueError("it is no SentencePiece model")
            fields.append((key >> 3, value))
    except (IndexError, struct.error):
        raise ValueError("it is no SentencePiece model, or cut off") from None
    if place > len(data):
        raise ValueError("it is cut off")
    return fields
