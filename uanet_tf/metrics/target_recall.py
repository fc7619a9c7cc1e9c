"""From which probability on spans have to be candidates so that a target recall is reached.

What is *shown* of a text is the entities that the tagger takes (all that it gives; with a target
precision those that it accepts) and the candidates. Recall is the share of the text's entities that
are shown. It falls as the threshold of candidates rises, so thresholds are tried from the lowest
up, by Learn then Test with fixed-sequence testing as in ``target_precision``: at each, "the recall
is below the target" is tested by the exact binomial tail, and the last threshold before the first
test that does not reject is taken.

Entities of a sentence, or of a document where the file marks them, are shown or missed together: n
of them count as n / d, with the design effect d of ``target_precision``. What is promised is the
recall of a further text of as many entities as were tested, which has a spread of its own, as large
as theirs: so d is doubled.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from uanet_lite.tag_schemes import BIOES, decode_spans
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.metrics import scoring
from uanet_tf.metrics.target_precision import (
    ERROR,
    NEVER,
    effect,
    highest_below,
    intraclass_correlation,
    upper_tail,
)

_SPREADS = 2.0  # that of the entities tested, and that of a further text
_LOGITS = np.linspace(math.log(1e-6), math.log(0.95 / 0.05), 160)
# From all candidates to none.
THRESHOLDS = np.append(1.0 / (1.0 + np.exp(-_LOGITS)), NEVER)
TARGETS = (0.8, 0.9, 0.95, 0.98)  # of which the cost is told
_POINTS = 40  # of a curve


class Shown(NamedTuple):
    """What labelled sentences have, N entities, and what can be shown of them, S spans.

    Attributes:
      score: [N], the probability of each entity as a candidate, 0 where it is none; ``NEVER``,
        which is above all, where it is taken. Likewise [N]: ``types``.
      units: [N], number of the sentence or document of each.
      probability: [S]; 0 of entities that are given, and no candidates. Likewise ``span_types``.
      taken: [S], whether they are shown whatever their probability.
      tokens: of the sentences.
    """

    score: np.ndarray
    types: np.ndarray
    units: np.ndarray
    probability: np.ndarray
    span_types: np.ndarray
    taken: np.ndarray
    tokens: int


def shown_spans(
    gold: scoring.Labels,
    tagged: Sequence[TaggedSentence],
    units: Sequence[int],
    accept_from: Mapping[str, float] | None = None,
) -> Shown:
    """What there is to show of tagged sentences.

    Args:
      tagged: answers with all their candidates.
      units: numbers of the documents.
      accept_from: by type, the confidence from which entities are accepted; None: all are taken.
    """
    entities: list[tuple[float, str, int]] = []
    spans: list[tuple[float, str, bool]] = []
    for labels, answer, unit in zip(gold, tagged, units, strict=True):
        score = {
            (each.type, each.token_start, each.token_end): each.probability
            for each in answer.candidates or ()
        }
        taken = {
            (each.type, each.token_start, each.token_end)
            for each in answer.entities
            if accept_from is None or each.confidence >= accept_from.get(each.type, NEVER)
        }
        spans += [(p, key[0], key in taken) for key, p in score.items()]
        spans += [(0.0, key[0], True) for key in taken - score.keys()]
        for span in decode_spans(labels, BIOES):  # leniently, so in any scheme
            entities.append((NEVER if span in taken else score.get(span, 0.0), span.type, unit))
    scores, types, numbers = zip(*entities, strict=True) if entities else [()] * 3
    probability, span_types, shown = zip(*spans, strict=True) if spans else [()] * 3
    return Shown(
        np.array(scores, float),
        np.array(types, object),
        np.array(numbers, int),
        np.array(probability, float),
        np.array(span_types, object),
        np.array(shown, bool),
        sum(map(len, tagged)),
    )


class Inclusion(NamedTuple):
    """The probability from which spans are candidates, and the recall found there.

    Attributes:
      target: recall asked for, in (0, 1).
      error: probability with which it may be missed.
      threshold: spans of at least this probability are candidates; ``NEVER``: none has to be;
        None: the target cannot be reached.
      best: where the target cannot be reached, the highest of 0.01, 0.02, ... that these entities
        would promise; else ``target``. 0: there is none.
      recall: share of these entities that is shown; where the target is not reached, by all spans.
      entities: how many were tested.
      design_effect: they tell as much as ``entities / design_effect`` independent ones.
    """

    target: float
    error: float
    threshold: float | None
    best: float
    recall: float
    entities: int
    design_effect: float

    @property
    def reached(self) -> bool:
        """Whether the target can be promised."""
        return self.threshold is not None


def refusal(found: Inclusion) -> str:
    """Why a target cannot be promised, and what can."""
    entities = f"{found.entities:,} {'entity' if found.entities == 1 else 'entities'}"
    said = (
        f"cannot be promised with a probability of {1 - found.error:g} from {entities}: the "
        f"candidates reach {found.recall:.3f} of them"
    )
    return f"{said}, and {found.best:.2f} can be promised" if found.best else said


def include_from(
    score: np.ndarray, group: np.ndarray, *, target: float, error: float = ERROR
) -> Inclusion:
    """Finds the highest probability of candidates that keeps a recall; see ``Inclusion``.

    Args:
      score: [N], see ``Shown``, of entities that neither the model nor its calibration has seen.
      group: [N] numbers of sentences, or of documents: entities of different ones are independent.
    """
    score, count = np.asarray(score, np.float64), len(score)
    group = np.unique(group, return_inverse=True)[1]
    correlation = intraclass_correlation(score >= NEVER, group)

    def effect_at(threshold: float) -> float:
        return effect(score >= threshold, group, correlation)

    def rejects(threshold: float, target: float) -> bool:
        hits = float(np.sum(score >= threshold))
        return upper_tail(hits, count, target, _SPREADS * effect_at(threshold)) <= error

    passed = list(itertools.takewhile(lambda each: rejects(each, target), THRESHOLDS))
    chosen = passed[-1] if passed else THRESHOLDS[0]
    best = target if passed else highest_below(target, lambda other: rejects(chosen, other))
    recall = float(np.mean(score >= chosen)) if count else 0.0
    threshold = float(chosen) if passed else None
    return Inclusion(target, error, threshold, best, recall, count, effect_at(chosen))


class Cost(NamedTuple):
    """What a threshold of candidates costs.

    Attributes:
      recall: share of the entities that are shown.
      taken: share of the entities that are taken without a look, where there is a target precision.
      per_1000: spans that a person looks at, of 1,000 tokens: all that are shown, but for those
        accepted by a target precision.
      per_entity: the same, of an entity of the file.
    """

    recall: float
    taken: float
    per_1000: float
    per_entity: float


def cost_of(shown: Shown, thresholds: Mapping[str, float] | float, *, accepts: bool) -> Cost:
    """The cost of thresholds, by type or of all; ``accepts``: there is a target precision."""

    def least(types: np.ndarray) -> np.ndarray:
        if isinstance(thresholds, Mapping):
            return np.array([thresholds.get(name, NEVER) for name in types])
        return np.full(len(types), thresholds)

    entities = max(1, len(shown.score))
    looked_at = shown.probability >= least(shown.span_types)
    looked_at = looked_at & ~shown.taken if accepts else looked_at | shown.taken
    return Cost(
        float(np.sum(shown.score >= least(shown.types)) / entities),
        float(np.sum(shown.score >= NEVER) / entities) if accepts else 0.0,
        float(1000 * np.sum(looked_at) / max(1, shown.tokens)),
        float(np.sum(looked_at) / entities),
    )


def cost_curve(shown: Shown, *, accepts: bool) -> list[tuple[float, Cost]]:
    """(threshold, cost), from all candidates to none."""
    places = np.unique(np.linspace(0, len(THRESHOLDS) - 1, _POINTS).astype(int))
    return [(float(t), cost_of(shown, float(t), accepts=accepts)) for t in THRESHOLDS[places]]


def promised_costs(shown: Shown, *, error: float, accepts: bool) -> list[dict[str, float | None]]:
    """For each of ``TARGETS`` what its promise costs, as plain values for JSON.

    Fields: ``target``; ``threshold`` and the fields of ``Cost``: None where it cannot be promised.
    """
    rows = []
    for target in TARGETS:
        found = include_from(shown.score, shown.units, target=target, error=error).threshold
        cost = None if found is None else cost_of(shown, found, accepts=accepts)._asdict()
        rows.append({"target": target, "threshold": found} | (cost or dict.fromkeys(Cost._fields)))
    return rows


def cost_rows(report: Mapping[str, Any]) -> list[list[str]]:
    """A table for people, its head first, of the costs in a report: see ``promised_costs``.

    Shares are of the entities of the file: "shown" of all, and where there is a target precision,
    ``accepts``, those accepted, those only among what a person looks at, and those missed.
    """
    shares = report["accepts"]
    head = ["target recall", "shown", "to look at per 1,000 tokens", "per entity"]
    if shares:
        head += ["accepted", "to be looked at", "rest"]
    rows = [head]
    for values in report["costs"]:
        row = [f"{values['target']:g}"]
        if values["recall"] is None:
            rows.append(row + ["-"] * (len(head) - 1))
            continue
        row += [f"{100 * values['recall']:.1f} %", f"{values['per_1000']:.1f}"]
        row.append(f"{values['per_entity']:.2f}")
        if shares:
            parts = (values["taken"], values["recall"] - values["taken"], 1 - values["recall"])
            row += [f"{100 * part:.1f} %" for part in parts]
        rows.append(row)
    return rows
