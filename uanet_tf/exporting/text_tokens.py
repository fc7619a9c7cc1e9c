r"""Splitting raw text into tokens inside the graph, as ``uanet_tf.tag --format=text`` does.

One rule for both, so that a text gets the same labels from either (a test compares the two): a
token is a run of letters, digits, marks and underscores, joined over one apostrophe, hyphen or
full stop ("don't", "e-mail", "3.5", "U.S" and "."), between digits also over one comma or colon
("1,000.50", "10:30"); or one other character that is no blank, with the marks and joined
characters of an emoji. Web addresses fall into parts.
It knows no language: a run of Chinese characters is one token, so text of languages without
blanks is better split beforehand.

tensorflow-text's ``RegexSplitter`` does it in one operation and gives byte offsets. Its other
tokenizers fit tokens of CoNLL files less well: ``WhitespaceTokenizer`` leaves punctuation on the
words, ``UnicodeScriptTokenizer`` splits "don't", "3.5" and "e-mail" and keeps ")." together.
"""

import tensorflow as tf

from uanet_tf.errors import InputError

_JOINERS = r"\x{200c}\x{200d}"
_WORD = r"\p{L}\p{N}\p{M}_\x{200c}\x{200d}"
_BLANK = r"\s\x{0b}\x{1c}-\x{1f}\x{85}\p{Z}"
# RE2 has no look-around: what may follow a digit is said where the digit is.
_LETTER = r"[\p{L}\p{Nl}\p{No}\p{M}_\x{200c}\x{200d}]"
_PART = rf"(?:{_LETTER}|\p{{Nd}}(?:[,:]\p{{Nd}})*)"
_OTHER = rf"[^{_WORD}{_BLANK}]"
_FLAG = r"[\x{1f1e6}-\x{1f1ff}]{2}"
# Marks, joiners and colours of skin stay with their emoji, and so does what a joiner joins.
_SYMBOL = rf"{_OTHER}(?:[{_JOINERS}]{_OTHER}|[\p{{M}}{_JOINERS}\x{{1f3fb}}-\x{{1f3ff}}])*"
TOKEN = rf"{_PART}(?:['’.\-]?{_PART})*|{_FLAG}|{_SYMBOL}"
_SPLIT_AT = rf"{TOKEN}|[{_BLANK}]+"


def split_text(text: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
    """Splits texts [B], UTF-8, into tokens.

    Returns:
      Ragged [B, (T)] tokens, and int64 offsets of their first byte and of the byte after their
      last. A text without tokens has a row of none. A NUL counts as a blank.

    Raises:
      InputError: tensorflow-text is not installed.
    """
    # The operation takes a NUL for the end of the text, and would drop what follows.
    text = tf.strings.regex_replace(text, r"\x00", " ")
    return _tensorflow_text().regex_split_with_offsets(text, _SPLIT_AT, TOKEN)


def _tensorflow_text():
    try:
        import tensorflow_text
    except ImportError as error:
        raise InputError(
            f"Raw text needs the package tensorflow-text, which cannot be imported ({error}): "
            "install it, or export with --notext."
        ) from None
    return tensorflow_text
