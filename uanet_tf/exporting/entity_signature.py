"""The signature of raw text that answers with entities instead of tokens."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from uanet_lite.answers import ENTITY_SCORES
from uanet_tf.models.labels import Chunks, OutputChunks
from uanet_tf.models.outputs import Tensors
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.masking import sequence_mask

NAME = "entities"
# Positions of labels among the output labels: an answer that only this signature reads.
POSITIONS = "label_positions"


def entity_signature(label_names: list[str], answer: Callable[[tf.Tensor], Tensors]) -> Any:
    """From texts to entities, the attributes of ``uanet_tf.Entity``.

    ``text`` [B] strings -> for the entities of each text from left to right, padded to the most, E,
    with "" and 0: ``text``, ``type`` [B, E] strings; ``start``, ``end`` [B, E] int32, CHARACTERS
    of the text, and ``token_start``, ``token_end``; the scores of entities of
    ``uanet_lite.answers`` [B, E]; ``count`` [B] int32.

    Args:
      label_names: output labels, in order.
      answer: from texts to answers for their tokens, with ``POSITIONS``.

    Returns:
      A tf.function with an input signature.
    """
    find = OutputChunks(label_names)

    @graph_function([tf.TensorSpec([None], tf.string, name="text")])
    def entities(text: tf.Tensor) -> Tensors:
        answers = answer(text)
        mask = sequence_mask(answers["lengths"], tf.shape(answers["tokens"])[1])
        chunks = find(answers[POSITIONS], mask)
        found = {**_places(text, answers, chunks), **_scores(answers, chunks)}
        padded = {
            name: tf.RaggedTensor.from_row_lengths(values, chunks.counts).to_tensor()
            for name, values in found.items()
        }
        return {**padded, "count": tf.cast(chunks.counts, tf.int32)}

    return entities


def _places(text: tf.Tensor, answers: Tensors, chunks: Chunks) -> Tensors:
    """Text, type and places of S entities, [S]."""
    first_byte = tf.gather_nd(answers["starts"], chunks.first)
    end_byte = tf.gather_nd(answers["ends"], chunks.last)
    source = tf.gather(text, chunks.first[:, 0])
    own = tf.strings.substr(source, first_byte, end_byte - first_byte)
    before = tf.strings.substr(source, tf.zeros_like(first_byte), first_byte)
    start = tf.strings.length(before, unit="UTF8_CHAR")
    return {
        "text": own,
        "type": chunks.types,
        "start": start,
        "end": start + tf.strings.length(own, unit="UTF8_CHAR"),
        "token_start": tf.cast(chunks.first[:, 1], tf.int32),
        "token_end": tf.cast(chunks.last[:, 1], tf.int32) + 1,
    }


def _scores(answers: Tensors, chunks: Chunks) -> Tensors:
    """Scores of S entities, [S], from those of their tokens."""
    scores = {}
    for answer in ENTITY_SCORES:
        if answer.name not in answers:
            continue
        values = tf.boolean_mask(answers[answer.name], chunks.inside)
        if answer.of_entity == "highest":
            scores[answer.name] = tf.math.segment_max(values, chunks.of_token)
        elif answer.of_entity == "lowest":
            scores[answer.name] = tf.math.segment_min(values, chunks.of_token)
        else:
            lowest = tf.math.segment_min(tf.cast(values, tf.int32), chunks.of_token)
            scores[answer.name] = lowest > 0
    return scores
