"""Chooses Gamma on the development set: the best score, or a shut gate if refining costs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import logging

from uanet_tf.data.conll import Sentence
from uanet_tf.metrics.threshold_sweep import tune_threshold
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.training.corpus_scorer import score_corpus

# A gate that costs less on a development set is left open: it is within the noise of one.
LEAST_COST = 0.05  # points of F1 or accuracy


def choose_threshold(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> float:
    """Sets the tagger's Gamma to the one with the best development score, and returns it.

    The sweep reads the valid sequences of draft and refiner. The gate mixes them token by token,
    before contradictions are resolved. So the chosen Gamma is scored by the model itself, and if
    the gated labels are worse than the draft's, the gate is shut. Where draft and refiner agree
    everywhere (without a refiner they do), Gamma stays as it is.
    """
    tagged = [answer for _, answer in tag_in_context(tagger, sentences)]
    if all(answer.draft_labels == answer.refined_labels for answer in tagged):
        logging.info("draft and refiner agree on all of dev: any threshold gives the same labels")
        return tagger.threshold
    nats = [answer.uncertainty for answer in tagged]
    tagger.threshold = tune_threshold(
        [sentence.labels for sentence in sentences],
        [answer.draft_labels for answer in tagged],
        [answer.refined_labels for answer in tagged],
        nats,
        task=task,
    )
    if tagger.threshold < max(np.max(row) for row in nats if len(row)):
        scores = score_corpus(tagger, sentences, task)
        if gate_gain(scores, task) >= 0:
            logging.info("threshold tuned on dev: %.3f nats", tagger.threshold)
            return tagger.threshold
    # No distribution over C labels has more entropy than ln C.
    tagger.threshold = math.ceil(1000 * math.log(len(tagger.class_names))) / 1000
    logging.warning(
        "refined labels gain nothing on dev at any threshold: the gate stays shut "
        "(--threshold=%.3f, ln C), and the draft's labels are given",
        tagger.threshold,
    )
    return tagger.threshold


def gate_gain(scores: dict[str, Any], task: str) -> float:
    """Points that the gated labels are ahead of the draft's; 0 without a gate."""
    measure = "f1" if task == "ner" else "accuracy"
    return scores[measure] - scores.get(f"draft_{measure}", scores[measure])


def warn_of_cost(scores: dict[str, Any], task: str) -> None:
    """Warns if the gate lowers the development score; a tuned one never does."""
    gain = gate_gain(scores, task)
    if gain < -LEAST_COST:
        logging.warning(
            "the gate costs %.2f points on dev at --threshold=%g: --tune_threshold chooses a "
            "better threshold there, or shuts the gate",
            -gain,
            scores["threshold"],
        )


def warn_of_empty(scores: dict[str, Any], task: str, steps: int) -> None:
    """Warns if no entity was found at all, mostly because of too little training."""
    if task == "ner" and not any(scores.get(name) for name in ("f1", "draft_f1", "refined_f1")):
        logging.warning(
            "after %d steps no entity of dev is found: with a small training file train for "
            "more --epochs or with a smaller --batch_size, without --average_decay, or with "
            "pretrained --word_vectors",
            steps,
        )
