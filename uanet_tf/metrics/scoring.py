"""Scores of a tagger with a gate: of the draft, the refiner and the gate.

Entities are scored as conlleval and seqeval's strict mode do: a predicted entity counts if type and
both ends are right. Label sequences of any tag scheme are first read leniently as spans and
rewritten as IOB2, so that the modes of those programs agree. The labels of a file, ``gold``, are a
sequence for each sentence.

``final_scores`` are seqeval's own, for tables. All others are counted here, as training needs them
often: seqeval imports scikit-learn and parses all labels at each call. The tests hold both equal.
"""

import itertools
import operator
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite import tag_schemes
from uanet_lite.tag_schemes import Span
from uanet_tf.metrics.reliability import calibration_error

Labels = Sequence[Sequence[str]]
SentenceSpans = Sequence[Sequence[Span]]


class Scores(NamedTuple):
    """Scores in percent, 0 where the denominator is 0, and the number of gold items."""

    precision: float
    recall: float
    f1: float
    support: int


def scores(right: int, predicted: int, gold: int) -> Scores:
    """Scores from three counts: correct items, predicted items, gold items."""
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return Scores(100.0 * precision, 100.0 * recall, 100.0 * f1, gold)


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
    """Scores draft, refined and final labels, in any tag scheme, of a corpus.

    A gold label that the model does not know simply never matches.

    Args:
      uncertainty: of each token, nats.
      task: "ner" (entity F1) or "pos" (accuracy).
      threshold: Gamma, nats: tokens with more uncertainty count as refined. None: there is no
        gate, and the entries on draft, refiner and gate are left out.

    Returns:
      Entries of metrics.json, see ``run_metrics.SCORES``, here in percent, but for
      ``refined_fraction``; None for the mean uncertainty of no tokens; ``calibration_error`` only
      with ``confidence``.

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
    """Scores, in percent, of several sets of labels of one corpus, by name: see ``FinalScores``."""
    readings = _read_all(task, gold=gold, **systems)
    return {name: _score(readings["gold"], readings[name], task) for name in systems}


class FinalScores(NamedTuple):
    """Scores in percent, as they are published.

    Attributes:
      total: ``accuracy`` and for "ner" also ``precision``, ``recall`` and ``f1``.
      types: by entity type ("ner") or label ("pos"), in alphabetical order: ``precision``,
        ``recall``, ``f1`` and ``support``, the number of its entities or tokens in the file.
    """

    total: dict[str, float]
    types: dict[str, dict[str, float | int]]


def final_scores(gold: Labels, labels: Labels, *, task: str) -> FinalScores:
    """Scores of entities by seqeval, in its strict mode under IOB2; of single labels, counted."""
    readings = _read_all(task, gold=gold, labels=labels)
    truth, given = readings["gold"], readings["labels"]
    total = {"accuracy": 100.0 * float(np.mean(_equal(truth, given)))}
    if task == "pos":
        return FinalScores(total, scores_by_type(gold, labels, task=task))
    every, by_type = _seqeval_scores(truth.spans, given.spans, list(map(len, gold)))
    total = {"precision": every.precision, "recall": every.recall, "f1": every.f1} | total
    return FinalScores(total, {name: each._asdict() for name, each in by_type.items()})


def scores_by_type(gold: Labels, labels: Labels, *, task: str) -> dict[str, dict[str, float | int]]:
    """The ``types`` of ``final_scores``, counted here."""
    rows = [[items_of(row, task) for row in each] for each in (gold, labels)]
    in_gold, in_given = (Counter(span.type for row in each for span in row) for each in rows)
    pairs = zip(*rows, strict=True)
    right = Counter(span.type for row, other in pairs for span in set(row) & set(other))
    return {
        name: scores(right[name], in_given[name], in_gold[name])._asdict()
        for name in sorted(in_gold | in_given)
    }


def _seqeval_scores(
    gold: SentenceSpans, given: SentenceSpans, lengths: Sequence[int]
) -> tuple[Scores, dict[str, Scores]]:
    """Micro-averaged scores of all entities, and those of each type."""
    from seqeval.metrics import classification_report  # scikit-learn: takes seconds
    from seqeval.scheme import IOB2

    names = sorted({span.type for row in (*gold, *given) for span in row})
    if not names:
        return scores(0, 0, 0), {}
    # seqeval takes hyphens off the ends of a type, and has a name of its own for none.
    number = {name: str(index) for index, name in enumerate(names)}
    numbered = (
        [[span._replace(type=number[span.type]) for span in row] for row in spans]
        for spans in (gold, given)
    )
    rows = [_iob2(spans, lengths) for spans in numbered]
    options = {"output_dict": True, "mode": "strict", "scheme": IOB2, "zero_division": 0}
    report = classification_report(*rows, **options)

    def read(key: str) -> Scores:
        row = report[key]
        values = (100.0 * float(row[name]) for name in ("precision", "recall", "f1-score"))
        precision, recall, f1 = values
        return Scores(precision, recall, f1, int(row["support"]))

    return read("micro avg"), {name: read(number[name]) for name in names}


def _iob2(spans: SentenceSpans, lengths: Iterable[int]) -> list[list[str]]:
    rows = zip(spans, lengths, strict=True)
    return [tag_schemes.encode_spans(row, length, tag_schemes.IOB2) for row, length in rows]


def right_tokens(gold: Labels, labels: Labels, *, task: str) -> np.ndarray:
    """Whether each token of a corpus has the right label: [N] booleans."""
    readings = _read_all(task, gold=gold, labels=labels)
    return _equal(readings["gold"], readings["labels"])


def right_entities(gold: Labels, spans: SentenceSpans) -> np.ndarray:
    """Whether type and both ends of each entity given are right: [N] booleans, in order."""
    pairs = zip(gold, spans, strict=True)
    truths = ((set(items_of(row, "ner")), given) for row, given in pairs)
    return np.array([span in truth for truth, given in truths for span in given], dtype=np.bool_)


_SYSTEMS = ("draft", "refined", "final")


def items_of(labels: Sequence[str], task: str) -> list[Span]:
    """What of a sentence's labels is scored: entities, or for "pos" each label as a span.

    F1 of the labels of single tokens is their accuracy.
    """
    if task == "pos":
        return [Span(label, place, place + 1) for place, label in enumerate(labels)]
    # Letters are read by their role whatever the scheme, so any scheme's name works here.
    return tag_schemes.decode_spans(labels, tag_schemes.BIOES)


class _Reading(NamedTuple):
    """One set of labels: of all tokens, comparable one by one, and the items by sentence."""

    labels: list[str]
    spans: list[list[Span]]


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
    spans = [items_of(row, task) for row in labels]
    comparable = labels if task == "pos" else _iob2(spans, map(len, labels))
    return _Reading(list(itertools.chain.from_iterable(comparable)), spans)


def _score(gold: _Reading, labels: _Reading, task: str) -> dict[str, float]:
    accuracy = {"accuracy": 100.0 * float(np.mean(_equal(gold, labels)))}
    if task == "pos":
        return accuracy
    pairs = zip(gold.spans, labels.spans, strict=True)
    right = sum(len(set(left) & set(other)) for left, other in pairs)
    found = scores(right, sum(map(len, labels.spans)), sum(map(len, gold.spans)))
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
    right, wrong = _mean(nats[draft_right]), _mean(nats[~draft_right])
    told = {"uncertainty_correct": right, "uncertainty_wrong": wrong}
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


def sentence_counts(gold: Labels, predicted: Labels, *, task: str) -> np.ndarray:
    """Counts of each of N sentences: [N, 3] of right, predicted and gold items.

    Items are entities for "ner", tokens for "pos".
    """
    counts = np.zeros([len(gold), 3], np.int64)
    for row, (true, given) in enumerate(zip(gold, predicted, strict=True)):
        spans = [set(items_of(labels, task)) for labels in (true, given)]
        counts[row] = len(spans[0] & spans[1]), len(spans[1]), len(spans[0])
    return counts


def f1_of_counts(counts: np.ndarray) -> np.ndarray:
    """F1, percent, of counts [..., 3]: right, predicted and gold; 0 without items."""
    items = counts[..., 1] + counts[..., 2]
    return 200.0 * counts[..., 0] / np.maximum(items, 1)


def unknown_labels(gold: Labels, known: Collection[str], task: str) -> dict[str, int]:
    """Counts the gold labels that a model cannot give: its types, or for "pos" its labels."""
    counts = Counter(itertools.chain.from_iterable(gold))
    if task == "ner":
        types = {label[2:] for label in known if label != "O"}
        known = [label for label in counts if label == "O" or label[2:] in types]
    return {label: count for label, count in counts.most_common() if label not in known}
