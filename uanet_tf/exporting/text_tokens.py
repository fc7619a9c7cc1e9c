r"""Splitting raw text into tokens inside the graph, as ``uanet_lite.tokenizer`` does in Python.

Both follow one rule, so that a text gets the same labels from either (a test compares the two). The
kind "unicode" cuts web addresses into parts, and a run of Chinese characters is one token: text of
languages without blanks is better split beforehand. Sentences are not split here: a text is one.

tensorflow-text's ``RegexSplitter`` does it in one operation. Its other tokenizers fit tokens of
CoNLL files less well: ``WhitespaceTokenizer`` leaves punctuation on the words,
``UnicodeScriptTokenizer`` splits "don't", "3.5" and "e-mail" and keeps ")." together.
"""

import re

import tensorflow as tf

from uanet_lite.tokenizer import CURRENCY, CUTS, FORMAT, INITIAL, QUOTES, RUNS, SEPARATOR, Tokenizer
from uanet_tf.tensorflow_stack import tensorflow_text

_JOINERS = r"\x{200c}\x{200d}"
_WORD = rf"\p{{L}}\p{{N}}\p{{M}}_\x{{200c}}\x{{200d}}{FORMAT}"
_BLANK = r"\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}"
# RE2 has no look-around: what may follow a digit is part of the digit's pattern.
_LETTER = rf"[\p{{L}}\p{{Nl}}\p{{No}}\p{{M}}_\x{{200c}}\x{{200d}}{FORMAT}]"
_PART = rf"(?:{_LETTER}|\p{{Nd}}(?:[,:]\p{{Nd}})*)"
_OTHER = rf"[^{_WORD}{_BLANK}]"
_FLAG = r"[\x{1f1e6}-\x{1f1ff}]{2}"
# Marks, joiners and skin tones stay with their emoji, and so do joined characters.
_SYMBOL = rf"{_OTHER}(?:[{_JOINERS}]{_OTHER}|[\p{{M}}{_JOINERS}\x{{1f3fb}}-\x{{1f3ff}}])*"
TOKEN = rf"{_PART}(?:['’‘.\-]?{_PART})*|{_FLAG}|{_SYMBOL}"
_DIGIT_PART = rf"(?:{_LETTER}|\p{{Nd}}(?:[,:/]\p{{Nd}})*)"
_ANY_WORD = rf"[{_WORD}]"
_MAIL = rf"(?:{_ANY_WORD}|[.+\-])+@(?:{_ANY_WORD}|-)+(?:\.(?:{_ANY_WORD}|-)+)+"
_LINK = rf"(?:https?://|www\.)[^{_BLANK}{QUOTES}]*{_ANY_WORD}"

UNICODE = Tokenizer()
Split = tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]


def split_text(text: tf.Tensor, tokenizer: Tokenizer = UNICODE) -> Split:
    """Splits texts [B], UTF-8, into tokens: ragged [B, (T)] tokens, starts and ends.

    Starts and ends are int64 positions in the text, in characters (code points), of the first one
    and of that after the last. A text without tokens has a row of none. A NUL counts as a blank.

    Raises:
      InputError: tensorflow-text is not installed.
    """
    given = text
    # The operation takes a NUL for the end of the text, and would drop what follows.
    text = tf.strings.regex_replace(text, r"\x00", " ")
    token = _token(tokenizer)
    if tokenizer.kind != "ptb":
        tokens, starts, ends = _split(text, token)
        return tokens, in_characters(given, starts), in_characters(given, ends)
    text = tf.strings.regex_replace(text, SEPARATOR, " ")
    for pattern, replacement in CUTS:
        text = tf.strings.regex_replace(text, _for_re2(pattern), _for_re2(replacement))
    tokens, starts, ends = _split(text, rf"{SEPARATOR}|{token}")
    # Separators before a token of the same text moved it by one byte each.
    is_separator = tf.equal(tokens.values, SEPARATOR)
    before = tf.cumsum(tf.cast(is_separator, tf.int64))
    row_start = tf.gather(tf.concat([[0], before], 0), tokens.row_starts())
    moved = tokens.with_values(before) - tf.expand_dims(row_start, 1)
    keep = tokens.with_values(tf.logical_not(is_separator))
    tokens, starts, ends = (
        tf.ragged.boolean_mask(part, keep) for part in (tokens, starts - moved, ends - moved)
    )
    return tokens, in_characters(given, starts), in_characters(given, ends)


def in_characters(text: tf.Tensor, places: tf.RaggedTensor) -> tf.RaggedTensor:
    """Positions [B, (T)] in the bytes of texts [B], UTF-8, as positions in their characters."""
    _, offsets = tf.strings.unicode_decode_with_offsets(text, "UTF-8")  # [B, (C)]
    # One sorted list for all texts; it is never empty, which searchsorted does not take.
    sizes = tf.cast(tf.strings.length(text), tf.int64) + 1
    begins = tf.cumsum(sizes, exclusive=True)
    known = tf.concat([[-1], offsets.values + tf.gather(begins, offsets.value_rowids())], 0)
    rows = places.value_rowids()
    wanted = tf.concat([[-1], places.values + tf.gather(begins, rows)], 0)
    found = tf.cast(tf.searchsorted(known, wanted), tf.int64)[1:] - 1
    return places.with_values(found - tf.gather(offsets.row_starts(), rows))


def _split(text: tf.Tensor, token: str) -> Split:
    tokens, starts, ends = tensorflow_text(
        "Raw text", ", or export with `text=False`"
    ).regex_split_with_offsets(text, rf"{token}|[{_BLANK}]+", token)
    # Invisible characters at the ends of a token are not its own; one of nothing else goes.
    values = tf.strings.regex_replace(tokens.values, f"^[{FORMAT}]+", "")
    visible = tf.strings.regex_replace(values, f"[{FORMAT}]+$", "")
    whole, begun, left = (tf.strings.length(part) for part in (tokens.values, values, visible))
    first = starts.values + tf.cast(whole - begun, tf.int64)
    last = ends.values - tf.cast(begun - left, tf.int64)
    keep = tokens.with_values(tf.not_equal(visible, ""))
    return tuple(
        tf.ragged.boolean_mask(tokens.with_values(part), keep) for part in (visible, first, last)
    )


def _token(tokenizer: Tokenizer) -> str:
    """RE2's pattern of a token."""
    if tokenizer.kind == "whitespace":
        return rf"[^{_BLANK}]+"
    if tokenizer.kind == "unicode":
        return TOKEN
    parts = [
        _LINK,
        _MAIL,
        r"(?:[A-Za-z]\.){2,}",
        *map(re.escape, sorted(tokenizer.abbreviations, key=lambda word: (-len(word), word))),
        *([r"\p{Nd}+\."] if tokenizer.ordinals else []),
        *([rf"[{tokenizer.marks}]{_ANY_WORD}+"] if tokenizer.marks else []),
        CURRENCY,
        rf"{_DIGIT_PART}(?:['’‘.\-]?{_DIGIT_PART})+",
        INITIAL,
        _DIGIT_PART,
        rf"['’]{_ANY_WORD}+",
        RUNS,
    ]
    return "|".join([*parts, _FLAG, _SYMBOL])


def _for_re2(pattern: str) -> str:
    """The end of the text, which the two write differently."""
    return pattern.replace(r"\Z", r"\z")
