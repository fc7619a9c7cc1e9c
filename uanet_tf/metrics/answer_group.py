"""The answers of a tagger that are right or wrong: tokens, or entities."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uanet_lite.tag_schemes import Span
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.metrics import scoring
from uanet_tf.metrics.reliability import brier_score, calibration_error


class AnswerGroup(NamedTuple):
    """Answers for labelled sentences: [N] of each.

    Attributes:
      confidence: in [0, 1]; ``right``: booleans; ``uncertainty``: nats.
      types: type of each entity, label of each token.
      sentences: position of the sentence of each.
      places: [N, 2], its first token and the one after the last.
    """

    confidence: np.ndarray
    right: np.ndarray
    uncertainty: np.ndarray
    types: np.ndarray
    sentences: np.ndarray
    places: np.ndarray

    def where(self, kept: np.ndarray) -> "AnswerGroup":
        """Those for which ``kept``, [N] booleans, is true."""
        return AnswerGroup(*(values[kept] for values in self))

    @property
    def error(self) -> float:
        """Expected calibration error, percent; 0 of no answers."""
        return calibration_error(self.confidence, self.right) if len(self.right) else 0.0

    @property
    def brier(self) -> float:
        """Brier score; 0 of no answers."""
        return brier_score(self.confidence, self.right) if len(self.right) else 0.0


def answer_groups(
    gold: scoring.Labels, tagged: Sequence[TaggedSentence], task: str
) -> dict[str, AnswerGroup]:
    """``tokens`` and, for "ner", ``entities`` of tagged sentences."""
    labels = [answer.labels for answer in tagged]
    first = np.array([place for row in labels for place in range(len(row))], int)
    groups = {
        "tokens": AnswerGroup(
            np.array([value for answer in tagged for value in answer.confidence]),
            scoring.right_tokens(gold, labels, task=task),
            np.array([value for answer in tagged for value in answer.uncertainty]),
            np.array([label for row in labels for label in row]),
            _positions(labels),
            np.column_stack([first, first + 1]),
        )
    }
    if task == "ner":
        given = [answer.entities for answer in tagged]
        entities = [entity for found in given for entity in found]
        spans = [[Span(e.type, e.token_start, e.token_end) for e in found] for found in given]
        groups["entities"] = AnswerGroup(
            np.array([entity.confidence for entity in entities]),
            scoring.right_entities(gold, spans),
            np.array([entity.uncertainty for entity in entities]),
            np.array([entity.type for entity in entities], object),
            _positions(given),
            np.array([span[1:] for row in spans for span in row], int).reshape(-1, 2),
        )
    return groups


def _positions(rows: Sequence[Sequence[object]]) -> np.ndarray:
    """The position of the row of each of its members."""
    return np.repeat(np.arange(len(rows)), [len(row) for row in rows])
