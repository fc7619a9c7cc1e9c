"""Tokens to features: words and characters, or sub-words, of each distinct token."""

from collections.abc import Mapping

import tensorflow as tf

from uanet_tf.config import DataConfig
from uanet_tf.data.padding import check_lengths
from uanet_tf.data.subword_lookup import SubwordLookup
from uanet_tf.data.token_lookup import TokenLookup
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.data.word_keys import document_features
from uanet_tf.ops.masking import sequence_mask
from uanet_tf.ops.shapes import filled_size

Lookup = TokenLookup | SubwordLookup


def make_lookup(config: DataConfig, vocabulary: Vocabulary) -> Lookup:
    """The lookup of a vocabulary; one with a BERT reads sub-words by the BERT's own rules."""
    bert = vocabulary.bert
    if bert is not None:
        return SubwordLookup(
            bert.vocabulary,
            lowercase=bert.lowercase,
            strip_accents=bert.strip_accents,
            split_chinese=bert.split_chinese,
            name="lookup",
        )
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
    """Features of a batch of sentences; each distinct token is looked up once.

    Args:
      lookup: of the model.
      tokens: [B, T] strings; strings at or beyond ``lengths`` are ignored.
      lengths: [B] integers.
      most_tokens: width of the widest batch that is accepted.

    Returns:
      The ``lookup.form_features`` of the distinct tokens, filled up to U; form_index [B, T] and
      lengths [B], int32. T is at least 1.

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
    """Features of the inputs of a model: ``tokens``, ``lengths`` and maybe ``document`` [B].

    Raises:
      InvalidArgumentError: see ``look_up``.
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
