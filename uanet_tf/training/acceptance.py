"""Finds the confidence from which a tagger's answers are accepted, for a target precision."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from absl import logging

from uanet_tf.metrics.answer_group import AnswerGroup
from uanet_tf.metrics.target_precision import ERROR, NEVER, Acceptance, accept_from
from uanet_tf.models.confidence import OUTSIDE
from uanet_tf.models.tagger import Tagger

ALL = "all"


def accept(tagger: Tagger, answers: AnswerGroup, *, target: float, by_type: bool) -> dict[str, Any]:
    """Sets ``tagger.acceptance``; graphs made before do not know of it.

    Args:
      tagger: calibrated.
      answers: its entities, or tokens where labels are no chunks, of sentences that neither its
        weights nor its calibration was fitted to.
      target: precision, in (0, 1).
      by_type: a threshold for each type, else one for all together.

    Returns:
      ``target``, ``error``, ``by_type``; ``all``, and for each type an entry of ``types``, with the
      fields of ``calibration.target_precision.Acceptance``.
    """
    find = functools.partial(accept_from, target=target, calibrated=True)
    groups = answers.sentences
    together = find(answers.confidence, answers.right, groups)
    types = {}
    for name in sorted(set(answers.types)):
        of_type = answers.types == name
        types[name] = find(answers.confidence[of_type], answers.right[of_type], groups[of_type])
    tagger.acceptance.set_target(
        target, _thresholds(tagger, together.threshold, types if by_type else None)
    )
    for name, found in types.items() if by_type else [("all types", together)]:
        _tell(name, found)
    return {
        "target": target,
        "error": ERROR,
        "by_type": by_type,
        ALL: together._asdict(),
        "types": {name: found._asdict() for name, found in types.items()},
    }


def _thresholds(
    tagger: Tagger, together: float, types: Mapping[str, Acceptance] | None
) -> np.ndarray:
    """The threshold of each class of the tagger."""
    thresholds = []
    for name in tagger.class_names:
        if tagger.label_scheme is not None and name == OUTSIDE:
            thresholds.append(NEVER)  # no entity
        elif types is None:
            thresholds.append(together)
        else:
            found = types.get(name if tagger.label_scheme is None else name[2:])
            thresholds.append(NEVER if found is None else found.threshold)
    return np.array(thresholds)


def _tell(name: str, found: Acceptance) -> None:
    answers = f"{found.answers:,} {'answer' if found.answers == 1 else 'answers'}"
    if found.reached:
        logging.info(
            "precision %g, %s: accepted from confidence %.3f on, %.1f %% of %s of dev",
            *(found.target, name, found.threshold, 100 * found.accepted, answers),
        )
        return
    logging.warning(
        "precision %g, %s: cannot be promised with a probability of %g from %s of dev: "
        "nothing is accepted%s",
        *(found.target, name, 1 - found.error, answers),
        f". The highest that can: {found.best:.2f}" if found.best else "",
    )
