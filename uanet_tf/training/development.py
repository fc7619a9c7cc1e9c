"""What the development data say of a model: its scores, its Gamma, and how its stream looks."""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

from uanet_lite.sentence import Sentence
from uanet_lite.tag_schemes import OUTSIDE, split_label
from uanet_tf.data.documents import independent_units
from uanet_tf.data.label_doubts import without_entities
from uanet_tf.metrics.resampling import f1_difference_error
from uanet_tf.metrics.scoring import f1_of_counts, score, scores_by_type, sentence_counts
from uanet_tf.metrics.threshold_sweep import tune_threshold
from uanet_tf.models.tagger import Tagger
from uanet_tf.settings import other_options
from uanet_tf.tagging.monitor import MOST_SENTENCES, known_words, make_reference, sentence_facts
from uanet_tf.tagging.streams import tag_in_context


def score_corpus(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    task: str,
    *,
    by_type: bool = False,
    without: Collection[str] = (),
) -> dict[str, Any]:
    """Tags sentences and scores them; see ``metrics.scoring.score`` for the entries.

    ``sentences_per_second`` is that of tagging only; ``by_type`` adds ``types``. Entities of types
    ``without`` count nowhere: neither labels nor answers.
    """
    start = time.perf_counter()
    with other_options(tagger, refine_all=True):
        tagged = [answer for _, answer in tag_in_context(tagger, sentences)]
    seconds = time.perf_counter() - start
    gold = [_without(sentence.labels, without) for sentence in sentences]
    draft, refined, final = (
        [_without(getattr(answer, name), without) for answer in tagged]
        for name in ("draft_labels", "refined_labels", "labels")
    )
    scores: dict[str, Any] = score(
        gold,
        draft,
        refined,
        final,
        [sentence.uncertainty for sentence in tagged],
        task=task,
        threshold=tagger.threshold,
        confidence=[sentence.confidence for sentence in tagged],
    )
    if by_type:
        scores["types"] = scores_by_type(gold, final, task=task)
    return {**scores, "sentences_per_second": len(sentences) / seconds}


def _without(labels: Sequence[str], types: Collection[str]) -> Sequence[str]:
    """Labels with O in place of those of some types."""
    if not types:
        return labels
    return [OUTSIDE if split_label(label)[1] in types else label for label in labels]


def development_reference(
    tagger: Tagger, sentences: Sequence[Sentence], seed: int = 1
) -> dict[str, Any]:
    """``{"monitoring": ...}`` for the metrics of a run, see ``Reference``; {} of one sentence.

    Of the development data the first ``MOST_SENTENCES`` are used; ``seed`` is that of its halves.
    """
    known, chunks = known_words(tagger), tagger.label_scheme is not None
    answers = tag_in_context(tagger, sentences[:MOST_SENTENCES])
    facts = [
        sentence_facts(each.tokens, each.labels, each.uncertainty, chunks=chunks, known=known)
        for _, each in answers
    ]
    reference = make_reference([each for each in facts if each is not None], seed)
    return {} if reference is None else {"monitoring": reference.to_dict()}


# Points of F1 or accuracy: a smaller difference on a development set says nothing.
NOISE = 0.05


def choose_threshold(tagger: Tagger, sentences: Sequence[Sentence], task: str) -> float:
    """Sets the Gamma of a tagger that refines all tokens by the development score; returns it.

    Candidates are the Gamma that the tagger has, twice that, the best of a sweep, and a shut gate.
    The model itself scores them: the sweep only mixes valid sequences token by token, while the
    gate decides before contradictions are resolved.

    The gate changes a few dozen labels of a development set, so which candidate is the best is
    mostly chance. The tagger's own Gamma stays, if it costs nothing against the draft and the best
    is not ahead of it by more than two standard errors of their difference (over documents, where
    the file marks them, else over sentences); else the largest other of which this is true is
    taken, which refines least: a shut gate, unless one that is open is clearly better. One that
    changes nothing counts as a shut gate. Where draft and refiner agree everywhere, Gamma stays.

    Reference: Breiman et al., 1984, "Classification and Regression Trees", section 3.4.3: the
    simplest that is as good as the best within a standard error. Two here, as the best of a sweep
    is the best of forty.
    """
    tagged = [answer for _, answer in tag_in_context(tagger, sentences)]
    if all(answer.draft_labels == answer.refined_labels for answer in tagged):
        logging.info("draft and refiner agree on all of dev: any threshold gives the same labels")
        return tagger.threshold
    gold = [sentence.labels for sentence in sentences]
    unit = independent_units(sentences)

    def counted(labels: Sequence[Sequence[str]]) -> np.ndarray:
        counts = np.zeros([int(unit.max()) + 1, 3], np.int64)
        np.add.at(counts, unit, sentence_counts(gold, labels, task=task))
        return counts

    draft = [answer.draft_labels for answer in tagged]
    refined = [answer.refined_labels for answer in tagged]
    uncertainty = [answer.uncertainty for answer in tagged]
    swept = tune_threshold(gold, draft, refined, uncertainty, task=task)
    # No distribution over C labels has more entropy than ln C.
    shut = math.ceil(1000 * math.log(len(tagger.class_names))) / 1000
    own = tagger.threshold
    counts = {shut: counted(draft)}
    if own < shut:
        counts[own] = counted([answer.labels for answer in tagged])
    for threshold in {2 * own, swept} - {own}:
        if threshold < shut:
            tagger.threshold = threshold
            labels = [answer.labels for _, answer in tag_in_context(tagger, sentences)]
            found = counted(labels)
            if (found != counts[shut]).any():
                counts[threshold] = found
    tagger.threshold = _first_as_good([own, *sorted(counts, reverse=True)], counts, counts[shut])
    gain = f1_of_counts(counts[tagger.threshold].sum(0)) - f1_of_counts(counts[shut].sum(0))
    if tagger.threshold < shut:
        logging.info("threshold chosen on dev: %.3f nats (%+.2f points)", tagger.threshold, gain)
    else:
        logging.warning(
            "at no threshold tried are refined labels clearly better on dev than the draft's: the "
            "gate is shut (`threshold=%.3f`, ln C), and the draft's labels are given",
            tagger.threshold,
        )
    return tagger.threshold


def _first_as_good(
    order: Sequence[float], counts: dict[float, np.ndarray], draft: np.ndarray
) -> float:
    """The first Gamma that costs nothing and is not clearly worse than the best."""
    scores = {gamma: float(f1_of_counts(found.sum(0))) for gamma, found in counts.items()}
    least = float(f1_of_counts(draft.sum(0))) - NOISE
    best = max(scores, key=lambda gamma: scores[gamma])
    return next(
        gamma
        for gamma in order
        if gamma in scores
        and scores[gamma] >= least
        and scores[best] - scores[gamma] <= 2 * f1_difference_error(counts[best], counts[gamma])
    )


def warn_of_cost(scores: dict[str, Any], task: str) -> None:
    """Warns if the gate lowers the development score by more than ``NOISE``; no tuned one does."""
    measure = "f1" if task == "ner" else "accuracy"
    gain = scores[measure] - scores.get(f"draft_{measure}", scores[measure])
    if gain < -NOISE:
        logging.warning(
            "the gate costs %.2f points on dev at `threshold=%g`: `tune_threshold` chooses a "
            "better threshold there, or shuts the gate",
            -gain,
            scores["threshold"],
        )


def warn_of_empty(
    scores: Mapping, sentences: Sequence[Sentence], task: str, steps: int, *, averaged: bool = False
) -> None:
    """Warns if no entity was found where there are some, mostly because of too little training.

    ``averaged``: whether the weights are a moving average, which lags behind in few steps.
    """
    if task != "ner" or without_entities(sentences):
        return
    if not any(scores.get(name) for name in ("f1", "draft_f1", "refined_f1")):
        logging.warning(
            "after %d steps no entity of dev is found: with a small training file take more steps "
            "(`min_steps` in an epoch, `epochs`, a smaller `batch_size`) or pretrained "
            "`word_vectors`%s",
            steps,
            ", or leave out `average_decay`" if averaged else "",
        )
