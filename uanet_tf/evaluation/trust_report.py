"""How far confidence and uncertainty can be trusted: of tokens, of entities, of a plain softmax."""

from collections.abc import Sequence

import numpy as np

from uanet_lite.tag_schemes import Span
from uanet_tf.metrics import scoring
from uanet_tf.metrics.trust import Trust, trust
from uanet_tf.tagging.tagged_sentence import TaggedSentence

TrustGroups = dict[str, Trust]


def trust_groups(
    gold: scoring.Labels,
    tagged: Sequence[TaggedSentence],
    *,
    task: str,
    uncertain: np.ndarray,
) -> TrustGroups:
    """Scores confidence and uncertainty of tokens and entities.

    Args:
      gold: labels of the file, a sequence for each sentence, in any tag scheme.
      tagged: answers for the same sentences.
      task: "ner" or "pos".
      uncertain: [N] booleans, tokens above Gamma.

    Returns:
      ``tokens``, ``uncertain_tokens`` and for "ner" also ``labelled_tokens`` (given a label
      other than O) and ``entities``; a group without members is left out.
    """
    labels = [sentence.labels for sentence in tagged]
    right = scoring.right_tokens(gold, labels, task=task)
    confidence, nats = token_values(tagged, "confidence"), token_values(tagged, "uncertainty")
    kept = {"tokens": np.ones(len(right), bool)}
    if task == "ner":
        kept["labelled_tokens"] = np.array([label != "O" for row in labels for label in row])
    kept["uncertain_tokens"] = np.asarray(uncertain, bool)
    groups = {name: trust(confidence[k], nats[k], right[k]) for name, k in kept.items()}
    if task == "ner":
        entities = [sentence.entities for sentence in tagged]
        given = [entity for found in entities for entity in found]
        spans = [
            [Span(entity.type, entity.token_start, entity.token_end) for entity in found]
            for found in entities
        ]
        groups["entities"] = trust(
            np.array([entity.confidence for entity in given]),
            np.array([entity.uncertainty for entity in given]),
            scoring.right_entities(gold, spans),
        )
    return {name: scores for name, scores in groups.items() if scores is not None}


def token_values(tagged: Sequence[TaggedSentence], name: str) -> np.ndarray:
    """One number of each token, over all sentences: [N]."""
    return np.array([value for sentence in tagged for value in getattr(sentence, name)])


_GROUPS = {
    "tokens": "tokens",
    "labelled_tokens": "tokens not O",
    "uncertain_tokens": "tokens above Gamma",
    "entities": "entities",
}
_COLUMNS = {
    "wrong": "wrong",
    "auroc": "AUROC",
    "auroc_uncertainty": "by nats",
    "aupr": "AUPR",
    "aurc": "AURC",
    "e_aurc": "E-AURC",
    "brier": "Brier",
    "ece": "ECE",
}


def trust_rows(systems: dict[str, TrustGroups]) -> list[list[str]]:
    """Cells of a table: a row for each group, a further one for each further system."""
    rows = [["finding errors", *_COLUMNS.values()]]
    for group, name in _GROUPS.items():
        for number, (system, groups) in enumerate(systems.items()):
            if group in groups:
                scores = groups[group]._asdict()
                cells = [_cell(scores[key], 4 if key == "brier" else 2) for key in _COLUMNS]
                rows.append([f"  {system.replace('_', ' ')}" if number else name, *cells])
    return rows


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
