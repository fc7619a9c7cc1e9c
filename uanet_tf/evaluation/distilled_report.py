"""One pass with the trained head, compared with exact sampling on a labelled file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from uanet_tf.data.columns_file import Sentence
from uanet_tf.metrics import scoring
from uanet_tf.metrics.error_detection import auroc
from uanet_tf.tagging.tagged_sentence import TaggedSentence

# 32 samples of each: more sentences hardly move a mean, and would take most of the time.
COMPARED = 2_500
_SYSTEMS = ("distilled", "exact", "one_pass")


def has_trained_head(model: Any) -> bool:
    """Whether a model can tag by ``--sampling=distilled``."""
    head = model.drafter.distilled
    return head is not None and bool(head.was_trained.numpy())


def distilled_scores(
    model: Any,
    sentences: Sequence[Sentence],
    answers: Mapping[str, Sequence[TaggedSentence]],
    *,
    task: str,
) -> dict[str, Any]:
    """How close one pass is to samples, and the scores of both.

    Args:
      model: a tagger with a trained head.
      sentences: of the file, with their labels.
      answers: for the sentences, by ``distilled``, by ``exact`` sampling, and by ``one_pass``
        without dropout and refinement.
      task: "ner" or "pos".

    Returns:
      The result of ``metrics.nearness.compare_with_samples`` for the first ``COMPARED`` sentences;
      their number, ``compared``; ``num_samples``, the tagger's M; and of all sentences, by system,
      ``score``, F1 or accuracy in percent, and ``auroc``, of finding the wrong labels of its draft
      by their uncertainty, in percent; None where none is wrong.
    """
    from uanet_tf.metrics import nearness  # TensorFlow, not for --help

    gold = [sentence.labels for sentence in sentences]
    labels = {name: [tagged.labels for tagged in answers[name]] for name in _SYSTEMS}
    scores = scoring.score_systems(gold, task=task, **labels)
    measure = "f1" if task == "ner" else "accuracy"
    return {
        **nearness.compare_with_samples(model, sentences, most=COMPARED),
        "compared": min(len(sentences), COMPARED),
        "num_samples": model.num_samples,
        "score": {name: scores[name][measure] for name in _SYSTEMS},
        "auroc": {name: _auroc(gold, answers[name], task) for name in _SYSTEMS},
    }


def distilled_rows(scores: dict[str, Any], task: str) -> list[list[str]]:
    """Cells of a table, one column per system."""
    divergences = (scores["kl"], scores["kl_of_samples"], scores["kl_of_one_pass"])
    rows = [
        ["one pass for M", "distilled", f"M = {scores['num_samples']}", "softmax"],
        ["KL to 32 samples", *(f"{value:.5f}" for value in divergences)],
        ["F1" if task == "ner" else "accuracy", *map(_cell, scores["score"].values())],
        ["AUROC of drafts", *map(_cell, scores["auroc"].values())],
    ]
    shares = {"labels": "same_labels", "those not O": "same_labels_not_o", "gate": "same_gate"}
    for name, key in shares.items():
        if key in scores:
            near = [scores["as_reference"][system][key] for system in _SYSTEMS]
            rows.append([f"{name} as by 32", *(_cell(100.0 * value) for value in near)])
    for name, key in shares.items():
        if key in scores:
            rows.append([f"{name} as by M", _cell(100.0 * scores[key]), "", ""])
    return rows


def _auroc(gold: scoring.Labels, tagged: Sequence[TaggedSentence], task: str) -> float | None:
    draft = [sentence.draft_labels for sentence in tagged]
    wrong = ~scoring.right_tokens(gold, draft, task=task)
    return auroc(np.concatenate([sentence.uncertainty for sentence in tagged]), wrong)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
