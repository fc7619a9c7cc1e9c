"""Chooses Gamma on the development set: the least refining that scores as the best does."""

import math
from collections.abc import Sequence
from typing import Any

from absl import logging

from uanet_tf.data.conll import Sentence
from uanet_tf.metrics.threshold_sweep import tune_threshold
from uanet_tf.models.tagger import Tagger
from uanet_tf.tagging.document_context import tag_in_context
from uanet_tf.training.corpus_scorer import score_corpus

# Points of F1 or accuracy: a smaller difference on a development set says nothing.
NOISE = 0.05


def choose_threshold(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> float:
    """Sets the tagger's Gamma by the development score, and returns it.

    Scored by the model itself are the Gamma that it has, twice that, and the best of a sweep, which
    only mixes valid sequences token by token: the gate decides before contradictions are resolved.
    Among those as good as the best, a shut gate included, the largest is taken: it refines the
    fewest tokens. Where draft and refiner agree everywhere, Gamma stays as it is.
    """
    tagged = [answer for _, answer in tag_in_context(tagger, sentences)]
    if all(answer.draft_labels == answer.refined_labels for answer in tagged):
        logging.info("draft and refiner agree on all of dev: any threshold gives the same labels")
        return tagger.threshold
    swept = tune_threshold(
        [sentence.labels for sentence in sentences],
        [answer.draft_labels for answer in tagged],
        [answer.refined_labels for answer in tagged],
        [answer.uncertainty for answer in tagged],
        task=task,
    )
    # No distribution over C labels has more entropy than ln C.
    shut = math.ceil(1000 * math.log(len(tagger.class_names))) / 1000
    gains = {shut: 0.0}
    for threshold in (tagger.threshold, 2 * tagger.threshold, swept):
        if threshold < shut:
            tagger.threshold = threshold
            gains[threshold] = gate_gain(score_corpus(tagger, sentences, task), task)
    best = max(gains.values())
    tagger.threshold = max(gamma for gamma, gain in gains.items() if gain >= best - NOISE)
    if tagger.threshold < shut:
        logging.info(
            "threshold tuned on dev: %.3f nats (%+.2f points)",
            tagger.threshold,
            gains[tagger.threshold],
        )
    else:
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
    if gain < -NOISE:
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
            "after %d steps no entity of dev is found: with a small training file take more steps "
            "(--min_steps in an epoch, --epochs, a smaller --batch_size) or pretrained "
            "--word_vectors, or leave out --average_decay",
            steps,
        )
