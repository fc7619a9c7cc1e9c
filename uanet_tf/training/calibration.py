"""Fits the calibration of confidence to development data, after training."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from uanet_tf.calibration.logistic_map import fit_logistic_map
from uanet_tf.data.conll import Sentence
from uanet_tf.data.tag_schemes import Span
from uanet_tf.inference.calibration import COLUMNS, OUTSIDE, ROWS, SMALLEST
from uanet_tf.metrics import scoring
from uanet_tf.metrics.calibration import calibration_error
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.tagging.tagged_sentence import TaggedSentence

# More of the probability, less of the uncertainty: nothing else means more confidence.
_SIGNS = (1, -1)
_PROBABILITY = (1.0, 0.0, 0.0)  # a row that leaves the probability as it is


class Answers(NamedTuple):
    """Confidence of a group of answers, and which are right: [N] each."""

    confidence: np.ndarray
    right: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error, percent; 0 of no answers."""
        return calibration_error(*self) if len(self.right) else 0.0


def calibrate(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> dict[str, Any]:
    """Fits the map of ``tagger.calibration`` to labelled sentences, and sets it.

    Args:
      tagger: with its final weights and Gamma.
      sentences: development data, which no weight was fitted to.
      task: "ner" or "pos".

    Returns:
      For "tokens" and, for "ner", "entities": ``size``, and ``ece_before`` and ``ece_after``,
      expected calibration errors on these sentences in percent.
    """
    gold = [sentence.labels for sentence in sentences]
    if tagger.calibration.is_fitted:
        tagger.calibrated = False
    plain = _tag(tagger, sentences)
    totals = plain
    if tagger.uncertainty != "entropy":
        kind, tagger.uncertainty = tagger.uncertainty, "entropy"
        totals = _tag(tagger, sentences)
        tagger.uncertainty = kind
    tagger.calibration.set_map(fit_map(gold, plain, totals, task))
    tagger.calibrated = True
    before, after = (answer_groups(gold, t, task) for t in (plain, _tag(tagger, sentences)))
    report = {
        name: {
            "size": len(before[name].right),
            "ece_before": before[name].error,
            "ece_after": after[name].error,
        }
        for name in before
    }
    for name, scores in report.items():
        logging.info(
            "calibrated on %d %s of dev: ECE %.2f %% -> %.2f %%",
            *(scores["size"], name, scores["ece_before"], scores["ece_after"]),
        )
    return report


def fit_map(
    gold: scoring.Labels,
    tagged: Sequence[TaggedSentence],
    totals: Sequence[TaggedSentence],
    task: str,
) -> np.ndarray:
    """The map of ``Calibration`` for uncalibrated answers: [4, 3].

    A group of labels without answers keeps the probability as it is.

    Args:
      gold: labels of the sentences.
      tagged: uncalibrated answers for them.
      totals: answers whose uncertainty is the entropy.
      task: "ner" or "pos".
    """
    right = scoring.right_tokens(gold, [answer.labels for answer in tagged], task=task)
    p = np.concatenate([answer.confidence for answer in tagged])
    nats = np.concatenate([answer.uncertainty for answer in totals])
    refined = np.concatenate([answer.refined for answer in tagged]).astype(int)
    outside = np.array([label == OUTSIDE for answer in tagged for label in answer.labels])
    p = np.clip(p, SMALLEST, 1.0 - SMALLEST)
    features = np.column_stack([np.log(p) - np.log1p(-p), nats])
    number = refined + 2 * outside
    rows = np.empty([ROWS, COLUMNS])
    for row in range(ROWS):
        chosen = number == row
        rows[row] = (
            fit_logistic_map(features[chosen], right[chosen], signs=_SIGNS)
            if chosen.any()
            else _PROBABILITY
        )
    return rows


def answer_groups(
    gold: scoring.Labels, tagged: Sequence[TaggedSentence], task: str
) -> dict[str, Answers]:
    """``tokens`` and, for "ner", ``entities``, with their confidence."""
    right = scoring.right_tokens(gold, [answer.labels for answer in tagged], task=task)
    groups = {"tokens": Answers(np.concatenate([a.confidence for a in tagged]), right)}
    if task == "ner":
        given = [answer.entities for answer in tagged]
        confidence = np.array([entity.confidence for found in given for entity in found])
        spans = [[Span(e.type, e.token_start, e.token_end) for e in found] for found in given]
        groups["entities"] = Answers(confidence, scoring.right_entities(gold, spans))
    return groups


def _tag(tagger: Tagger, sentences: Sequence[Sentence]) -> list[TaggedSentence]:
    return [answer for _, answer in tag_in_context(tagger, sentences)]
