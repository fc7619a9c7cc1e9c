"""What a server compares its requests with: the run's development data."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from uanet_tf.models.tagger import Tagger

MONITORING = "monitoring.json"


def write_monitoring(extra: pathlib.Path, model: Tagger, metrics: Mapping[str, Any]) -> None:
    """Writes ``monitoring.json``; nothing for a run without such metrics.

    Args:
      extra: folder ``assets.extra`` of a version.
      model: of the run.
      metrics: of the run.
    """
    if "monitoring" in metrics:
        lookup = model.lookup
        values = {
            "monitoring": metrics["monitoring"],
            "chunks": model.label_scheme is not None,
            "normalize_digits": bool(getattr(lookup, "normalize_digits", False)),
            "lowercase_words": bool(getattr(lookup, "lowercase_words", False)),
        }
        (extra / MONITORING).write_text(json.dumps(values, indent=1), encoding="utf-8")
