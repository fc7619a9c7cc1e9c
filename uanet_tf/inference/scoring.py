"""Scores of a tagger with a gate: what the draft, the refiner and the gate each got right.

Entities are scored as conlleval does: a predicted entity counts if type and both ends
are right. Sequences are read leniently as spans, written as IOB2, and scored by seqeval
in strict mode; after the rewriting all its modes agree.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from uanet_tf.data import tag_schemes

Labels = Sequence[Sequence[str]]


def score(
    gold: Labels,
    draft: Labels,
    refined: Labels,
    final: Labels,
    uncertainty: Iterable[Sequence[float]],
    *,
    task: str,
    threshold: float,
) -> dict[str, float | int | None]:
    """Scores the three labellings of a corpus.

    Labels may be in any tag scheme. A gold label that the model does not know simply
    never matches.

    Args:
      gold: labels of the file, a sequence for each sentence.
      draft: labels of the draft.
      refined: labels of the refiner, for all tokens.
      final: labels after the gate.
      uncertainty: uncertainty of each token, nats.
      task: "ner" (entity F1) or "pos" (accuracy).
      threshold: Gamma, nats: tokens with more uncertainty count as refined.

    Returns:
      The entries of metrics.json, scores in percent: for "ner" ``f1, precision, recall,
      accuracy, draft_f1, refined_f1``, for "pos" ``accuracy, draft_accuracy,
      refined_accuracy``; for both ``threshold``, ``refined_fraction`` (of tokens, in
      [0, 1]), ``right_to_wrong`` and ``wrong_to_right`` (tokens whose draft label was
      right and final label is wrong, and the other way round), ``uncertainty_correct``
      and ``uncertainty_wrong`` (mean nats of tokens with a right and a wrong draft label,
      None if there is no such token).

    Raises:
      ValueError: the arguments differ in sentences or tokens, or hold no token.
    """
    systems = score_systems(gold, draft=draft, refined=refined, final=final, task=task)
    if task == "ner":
        scores: dict[str, Any] = {key: systems["final"][key] for key in ("f1", "precision", "recall")}
        scores["accuracy"] = systems["final"]["accuracy"]
        measure = "f1"
    else:
        scores = {"accuracy": systems["final"]["accuracy"]}
        measure = "accuracy"
    scores[f"draft_{measure}"] = systems["draft"][measure]
    scores[f"refined_{measure}"] = systems["refined"][measure]
    return scores | _gate_scores(gold, draft, final, uncertainty, task, threshold)


def score_systems(gold: Labels, *, task: str, **systems: Labels) -> dict[str, dict[str, float]]:
    """Scores several labellings of one corpus, in percent.

    Returns:
      For each labelling, under its name, ``accuracy`` and for "ner" also ``precision``,
      ``recall`` and ``f1``.
    """
    _check_task(task)
    gold = _comparable(gold, task)
    results = {}
    for name, labels in systems.items():
        labels = _comparable(labels, task)
        _check_shapes(gold, labels, name)
        results[name] = {"accuracy": 100.0 * float(np.mean(_equal(gold, labels)))}
        if task == "ner":
            precision, recall, f1, _ = _seqeval(gold, labels, "micro")
            results[name] |= {
                "precision": 100.0 * float(precision),
                "recall": 100.0 * float(recall),
                "f1": 100.0 * float(f1),
            }
    return results


def score_types(gold: Labels, labels: Labels, *, task: str) -> dict[str, dict[str, float | int]]:
    """Scores each entity type ("ner") or each label ("pos"), in alphabetical order.

    Returns:
      By type: ``precision, recall, f1`` in percent, and ``support``, the number of entities
      or tokens of this type in ``gold``.
    """
    _check_task(task)
    gold, labels = _comparable(gold, task), _comparable(labels, task)
    _check_shapes(gold, labels, "labels")
    if task == "ner":
        spans = (
            tag_schemes.decode_spans(sequence, tag_schemes.IOB2)
            for sequence in itertools.chain(gold, labels)
        )
        names = sorted({span.type for sentence in spans for span in sentence})
        columns = _seqeval(gold, labels, None) if names else ([], [], [], [])
    else:
        names, columns = _label_scores(gold, labels)
    return {
        name: {
            "precision": 100.0 * float(precision),
            "recall": 100.0 * float(recall),
            "f1": 100.0 * float(f1),
            "support": int(support),
        }
        for name, precision, recall, f1, support in zip(names, *columns, strict=True)
    }


def to_iob2(labels: Iterable[Sequence[str]]) -> list[list[str]]:
    """Rewrites label sequences of any tag scheme, valid or not, as valid IOB2."""
    return [tag_schemes.convert(list(row), tag_schemes.BIOES, tag_schemes.IOB2) for row in labels]


def _gate_scores(
    gold: Labels,
    draft: Labels,
    final: Labels,
    uncertainty: Iterable[Sequence[float]],
    task: str,
    threshold: float,
) -> dict[str, float | int | None]:
    """What the gate did, and how well uncertainty tells right drafts from wrong ones."""
    gold, draft, final = (_comparable(labels, task) for labels in (gold, draft, final))
    draft_right, final_right = _equal(gold, draft), _equal(gold, final)
    # float32, as the model compares.
    nats = np.fromiter(itertools.chain.from_iterable(uncertainty), dtype=np.float32)
    if len(nats) != len(draft_right):
        raise ValueError(f"{len(nats)} uncertainties for {len(draft_right)} tokens.")
    return {
        "threshold": threshold,
        "refined_fraction": float(np.mean(nats > np.float32(threshold))),
        "right_to_wrong": int(np.sum(draft_right & ~final_right)),
        "wrong_to_right": int(np.sum(~draft_right & final_right)),
        "uncertainty_correct": _mean(nats[draft_right]),
        "uncertainty_wrong": _mean(nats[~draft_right]),
    }


def _mean(values: np.ndarray) -> float | None:
    return float(np.mean(values, dtype=np.float64)) if len(values) else None


def _comparable(labels: Labels, task: str) -> Labels:
    return to_iob2(labels) if task == "ner" else labels


def _equal(gold: Labels, labels: Labels) -> np.ndarray:
    """[N] booleans over all tokens."""
    pairs = zip(itertools.chain.from_iterable(gold), itertools.chain.from_iterable(labels), strict=True)
    return np.fromiter((left == right for left, right in pairs), dtype=np.bool_)


def _seqeval(gold: Labels, labels: Labels, average: str | None) -> tuple:
    """Precision, recall, F1 and support of seqeval's strict mode: numbers or, by type, arrays."""
    from seqeval.metrics import v1
    from seqeval.scheme import IOB2

    return v1.precision_recall_fscore_support(
        list(gold), list(labels), average=average, scheme=IOB2, zero_division=0
    )


def _label_scores(gold: Labels, labels: Labels) -> tuple[list[str], tuple[np.ndarray, ...]]:
    """Names and (precision, recall, F1, support) of single labels."""
    flat_gold = list(itertools.chain.from_iterable(gold))
    flat_labels = list(itertools.chain.from_iterable(labels))
    names, codes = np.unique(np.array(flat_gold + flat_labels, dtype=object), return_inverse=True)
    gold_codes, label_codes = np.split(codes, [len(flat_gold)])
    size = len(names)
    support = np.bincount(gold_codes, minlength=size)
    predicted = np.bincount(label_codes, minlength=size)
    right = np.bincount(gold_codes[gold_codes == label_codes], minlength=size)
    f1 = 2.0 * right / (support + predicted)  # never 0 / 0: each name stands somewhere
    columns = (right / np.maximum(predicted, 1), right / np.maximum(support, 1), f1, support)
    return names.tolist(), columns


def _check_task(task: str) -> None:
    if task not in ("ner", "pos"):
        raise ValueError(f"`task` must be 'ner' or 'pos'. Received: task={task!r}")


def _check_shapes(gold: Labels, labels: Labels, name: str) -> None:
    if list(map(len, gold)) != list(map(len, labels)):
        raise ValueError(f"`gold` and `{name}` differ in sentences or tokens.")
    if not any(map(len, gold)):
        raise ValueError("There is no token to score.")
