"""The exported Gamma, for people: a SavedModel keeps it where only the graph reads it."""

import json
import pathlib

from uanet_tf.models.tagger import Tagger

GATE = "gate.json"


def write_gate(extra: pathlib.Path, model: Tagger) -> None:
    """Writes ``gate.json``, Gamma in nats; nothing for a model without a gate.

    Args:
      extra: folder ``assets.extra`` of a version.
      model: as it is exported.
    """
    if model.gate is not None:
        (extra / GATE).write_text(json.dumps({"threshold": model.threshold}), encoding="utf-8")
