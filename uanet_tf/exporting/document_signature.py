"""The signature of whole documents, for a refiner that reads them."""

from typing import Any

import tensorflow as tf

from uanet_tf.data.documents import MOST_PADDING
from uanet_tf.data.lookup import ONE_PIECE_TOKENS
from uanet_tf.exporting.input_shapes import with_declared_shapes
from uanet_tf.models.outputs import Tensors
from uanet_tf.models.tagger import Tagger
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.masking import sequence_mask

NAME = "document"
_TOKENS = tf.TensorSpec([None, None], tf.string, name="tokens")
_SENTENCE_LENGTHS = tf.TensorSpec([None, None], tf.int32, name="sentence_lengths")
_SENTENCES = tf.TensorSpec([None], tf.int32, name="sentences")


def document_signature(model: Tagger) -> Any:
    """From documents to answers: a row is a document, so rows do not depend on one another.

    B documents, N tokens of the longest, S sentences of that with the most. ``tokens`` [B, N]
    strings, the sentences one after another; ``sentence_lengths`` [B, S] and ``sentences`` [B]
    int32, how many of these lengths count: a server fills rows up with any values. Sentences are
    padded to the longest: a request that this makes too large is refused.

    Returns:
      A tf.function with an input signature; its outputs are the model's, [B, N].
    """

    @graph_function([_TOKENS, _SENTENCE_LENGTHS, _SENTENCES])
    def document(tokens: tf.Tensor, sentence_lengths: tf.Tensor, sentences: tf.Tensor) -> Tensors:
        specs = [_TOKENS, _SENTENCE_LENGTHS, _SENTENCES]
        tokens, sentence_lengths, sentences = with_declared_shapes(
            specs, tokens, sentence_lengths, sentences
        )
        with tf.control_dependencies(_checks(tokens, sentence_lengths, sentences)):
            is_sentence = sequence_mask(sentences, tf.shape(sentence_lengths)[1])  # [B, S]
        lengths = tf.where(is_sentence, sentence_lengths, 0)
        with tf.control_dependencies(_length_checks(tokens, lengths, is_sentence)):
            is_token = sequence_mask(tf.reduce_sum(lengths, axis=1), tf.shape(tokens)[1])  # [B, N]
        rows = tf.boolean_mask(lengths, is_sentence)  # [R]
        ragged = tf.RaggedTensor.from_row_lengths(tf.boolean_mask(tokens, is_token), rows)
        padded = ragged.to_tensor("")  # [R, T]
        numbers = tf.cast(tf.where(is_sentence)[:, 0], tf.int32)
        features = model.features({"tokens": padded, "lengths": rows, "document": numbers})
        answers = model.answers.strings(model.decide(features), model.graph_options)
        return {name: _unpadded(values, rows, is_token) for name, values in answers.items()}

    return document


def _unpadded(values: tf.Tensor, rows: tf.Tensor, is_token: tf.Tensor) -> tf.Tensor:
    """Values [R, T, ...] of sentences at the tokens [B, N] of documents; "" or 0 at padding."""
    flat = tf.boolean_mask(values, sequence_mask(rows, tf.shape(values)[1]))
    # Also where there is no sentence, and so no value to take a zero from.
    shape = tf.concat([[1], tf.shape(values)[2:]], axis=0)
    nothing = tf.fill(shape, tf.zeros([], values.dtype))
    numbers = tf.cumsum(tf.cast(tf.reshape(is_token, [-1]), tf.int32)) - 1
    places = tf.where(is_token, tf.reshape(numbers, tf.shape(is_token)), tf.shape(flat)[0])
    return tf.gather(tf.concat([flat, nothing], axis=0), places)


def _checks(tokens, sentence_lengths, sentences) -> list[tf.Operation]:
    return [
        *(
            tf.debugging.assert_equal(
                tf.shape(values)[0],
                tf.shape(tokens)[0],
                f"{name} must have one row for each document.",
            )
            for name, values in (("sentence_lengths", sentence_lengths), ("sentences", sentences))
        ),
        tf.debugging.assert_non_negative(sentences, "sentences must not be negative."),
        tf.debugging.assert_less_equal(
            sentences,
            tf.shape(sentence_lengths)[1],
            "sentences is beyond the width of sentence_lengths.",
        ),
    ]


def _length_checks(tokens, lengths, is_sentence) -> list[tf.Operation]:
    wide = tf.cast(lengths, tf.int64)  # sums of wrong lengths, too, are what they are
    rows = tf.math.count_nonzero(is_sentence)
    padded = rows * tf.reduce_max(tf.concat([tf.reshape(wide, [-1]), [0]], axis=0))
    most = MOST_PADDING * tf.maximum(tf.size(tokens, tf.int64), ONE_PIECE_TOKENS)
    return [
        tf.debugging.assert_non_negative(lengths, "A sentence length is negative."),
        tf.debugging.assert_less_equal(
            tf.reduce_sum(wide, axis=1),
            tf.shape(tokens, tf.int64)[1],
            "The sentences of a document are longer than its tokens.",
        ),
        tf.debugging.assert_less_equal(
            padded,
            most,
            "Too many tokens once all sentences are padded to the longest: split that one, or send "
            "fewer sentences with it.",
        ),
    ]
