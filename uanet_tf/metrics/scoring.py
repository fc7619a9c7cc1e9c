"""Scores of a tagger with a gate: of the draft, the refiner and the gate.

Entities are scored as conlleval and seqeval's strict mode do: a predicted entity counts if
type and both ends are right. Label sequences of any tag scheme are first read leniently as
spans and rewritten as IOB2, so that the modes of those programs agree.
"""

import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite import tag_schemes
from uanet_tf.metrics import span_scores
from uanet_tf.metrics.calibration import calibration_error

Labels = Sequence[Sequence[str]]


def score(
    gold: Labels,
    draft: Labels,
    refined: Labels,
    final: Labels,
    uncertainty: Iterable[Sequence[float]],
    *,
    task: str,
    threshold: float | None,
    confidence: Iterable[Sequence[float]] | None = None,
) -> dict[str, float | int | None]:
    """Scores draft, refined and final labels of a corpus.

    Labels may be in any tag scheme. A gold label that the model does not know simply
    never matches.

    Args:
      gold: labels of the file, a sequence for each sentence.
      draft: labels of the draft.
      refined: labels of the refiner, for all tokens.
      final: labels after the gate.
      uncertainty: uncertainty of each token, nats.
      task: "ner" (entity F1) or "pos" (accuracy).
      threshold: Gamma, nats: tokens with more uncertainty count as refined. None: there is no
        gate, and the entries on draft, refiner and gate are left out.
      confidence: probability of each final label.

    Returns:
      The entries of metrics.json, scores in percent: for "ner" ``f1, precision, recall,
      accuracy, draft_f1, refined_f1``, for "pos" ``accuracy, draft_accuracy,
      refined_accuracy``; for both ``threshold``, ``refined_fraction`` (of tokens, in
      [0, 1]), ``right_to_wrong`` and ``wrong_to_right`` (tokens whose draft label was
      right and final label is wrong, and vice versa), ``uncertainty_correct``
      and ``uncertainty_wrong`` (mean nats of tokens with a right and a wrong draft label,
      None if there is no such token); with ``confidence`` also ``calibration_error``, in
      percent, of the final labels.

    Raises:
      ValueError: the arguments differ in sentences or tokens, or hold no token.
    """
    readings = _read_all(task, gold=gold, draft=draft, refined=refined, final=final)
    systems = {name: _score(readings["gold"], readings[name], task) for name in _SYSTEMS}
    keys = ("f1", "precision", "recall", "accuracy") if task == "ner" else ("accuracy",)
    results: dict[str, Any] = {key: systems["final"][key] for key in keys}
    if threshold is not None:
        results[f"draft_{keys[0]}"] = systems["draft"][keys[0]]
        results[f"refined_{keys[0]}"] = systems["refined"][keys[0]]
    if confidence is not None:
        given = np.fromiter(itertools.chain.from_iterable(confidence), dtype=np.float64)
        right = _equal(readings["gold"], readings["final"])
        results["calibration_error"] = calibration_error(given, right)
    return results | _gate_scores(readings, uncertainty, threshold)


def score_systems(gold: Labels, *, task: str, **systems: Labels) -> dict[str, dict[str, float]]:
    """Scores several sets of labels of one corpus, in percent.

    Returns:
      For each of them, under its name, ``accuracy`` and for "ner" also ``precision``,
      ``recall`` and ``f1``.
    """
    readings = _read_all(task, gold=gold, **systems)
    return {name: _score(readings["gold"], readings[name], task) for name in systems}


def score_types(gold: Labels, labels: Labels, *, task: str) -> dict[str, dict[str, float | int]]:
    """Scores each entity type ("ner") or each label ("pos"), in alphabetical order.

    Returns:
      By type: ``precision, recall, f1`` in percent, and ``support``, the number of entities
      or tokens of this type in ``gold``.
    """
    readings = _read_all(task, gold=gold, labels=labels)
    truth, given = readings["gold"], readings["labels"]
    if task == "ner":
        by_type = span_scores.span_scores_by_type(truth.spans, given.spans)
    else:
        in_gold, in_given = Counter(truth.labels), Counter(given.labels)
        right = Counter(itertools.compress(truth.labels, _equal(truth, given)))
        by_type = {
            name: span_scores.scores(right[name], in_given[name], in_gold[name])
            for name in sorted(in_gold | in_given)
        }
    return {name: scores._asdict() for name, scores in by_type.items()}


def right_tokens(gold: Labels, labels: Labels, *, task: str) -> np.ndarray:
    """Whether each token of a corpus has the right label: [N] booleans."""
    readings = _read_all(task, gold=gold, labels=labels)
    return _equal(readings["gold"], readings["labels"])


def right_entities(gold: Labels, spans: span_scores.SentenceSpans) -> np.ndarray:
    """Whether type and both ends of each entity given are right: [N] booleans, in order."""
    pairs = zip(gold, spans, strict=True)
    truths = (
        (set(tag_schemes.decode_spans(row, tag_schemes.BIOES)), given) for row, given in pairs
    )
    return np.array([span in truth for truth, given in truths for span in given], dtype=np.bool_)


_SYSTEMS = ("draft", "refined", "final")


class _Reading(NamedTuple):
    """One set of labels: of all tokens, comparable one by one, and the spans by sentence."""

    labels: list[str]
    spans: list[list[tag_schemes.Span]]


def _read_all(task: str, *, gold: Labels, **systems: Labels) -> dict[str, _Reading]:
    """Checks that the sets of labels have the same lengths, and reads each once."""
    if task not in ("ner", "pos"):
        raise ValueError(f"`task` must be 'ner' or 'pos'. Received: task={task!r}")
    lengths = list(map(len, gold))
    if not any(lengths):
        raise ValueError("There is no token to score.")
    for name, labels in systems.items():
        if list(map(len, labels)) != lengths:
            raise ValueError(f"`gold` and `{name}` differ in sentences or tokens.")
    return {name: _read(labels, task) for name, labels in {"gold": gold, **systems}.items()}


def _read(labels: Labels, task: str) -> _Reading:
    if task == "pos":
        return _Reading(list(itertools.chain.from_iterable(labels)), [])
    # Letters are read by their role whatever the scheme, so any scheme's name works here.
    spans = [tag_schemes.decode_spans(row, tag_schemes.BIOES) for row in labels]
    rewritten = (
        tag_schemes.encode_spans(found, len(row), tag_schemes.IOB2)
        for found, row in zip(spans, labels, strict=True)
    )
    return _Reading(list(itertools.chain.from_iterable(rewritten)), spans)


def _score(gold: _Reading, labels: _Reading, task: str) -> dict[str, float]:
    accuracy = {"accuracy": 100.0 * float(np.mean(_equal(gold, labels)))}
    if task == "pos":
        return accuracy
    found = span_scores.span_scores(gold.spans, labels.spans)
    return {"precision": found.precision, "recall": found.recall, "f1": found.f1} | accuracy


def _equal(gold: _Reading, labels: _Reading) -> np.ndarray:
    """[N] booleans over all tokens."""
    return np.fromiter(map(operator.eq, gold.labels, labels.labels), dtype=np.bool_)


def _gate_scores(
    readings: dict[str, _Reading], uncertainty: Iterable[Sequence[float]], threshold: float | None
) -> dict[str, float | int | None]:
    """What the gate did, and how well uncertainty tells right drafts from wrong ones."""
    draft_right = _equal(readings["gold"], readings["draft"])
    final_right = _equal(readings["gold"], readings["final"])
    # float32, as the model compares.
    nats = np.fromiter(itertools.chain.from_iterable(uncertainty), dtype=np.float32)
    if len(nats) != len(draft_right):
        raise ValueError(f"{len(nats)} uncertainties for {len(draft_right)} tokens.")
    told = {
        "uncertainty_correct": _mean(nats[draft_right]),
        "uncertainty_wrong": _mean(nats[~draft_right]),
    }
    if threshold is None:
        return told
    return {
        "threshold": threshold,
        "refined_fraction": float(np.mean(nats > np.float32(threshold))),
        "right_to_wrong": int(np.sum(draft_right & ~final_right)),
        "wrong_to_right": int(np.sum(~draft_right & final_right)),
        **told,
    }


def _mean(values: np.ndarray) -> float | None:
    return float(np.mean(values, dtype=np.float64)) if len(values) else None
