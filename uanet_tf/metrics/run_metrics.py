"""``metrics.json`` of a run, checked for what its readers take from it."""

import pathlib
from typing import Any

from uanet_tf.errors import InputError, one_line
from uanet_tf.strict_json import has_type, read_json, shown

MEASURES = {"ner": "f1", "pos": "accuracy"}


def read_run_metrics(path: pathlib.Path) -> dict[str, Any]:
    """Reads the metrics of a run, complete or not.

    Returns:
      A dictionary with ``task``, ``epochs`` and ``best_epoch``; once the run is complete also with
      the final scores, ``dev`` and, if there was a test file, ``test``.

    Raises:
      InputError: the file cannot be read, or lacks something.
    """
    try:
        metrics = read_json(path)
        if not isinstance(metrics, dict):
            raise InputError("it is not a JSON object")
        _check(metrics)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as the metrics of a run: {one_line(error)}") from (
            error
        )
    return metrics


def _check(metrics: dict[str, Any]) -> None:
    for key, kinds in (("task", str), ("epochs", list), ("best_epoch", (int, type(None)))):
        if key not in metrics:
            raise InputError(f"it lacks {key!r}")
        if not has_type(metrics[key], kinds):
            raise InputError(f"it has {shown(metrics[key])} for {key!r}")
    if metrics["task"] not in MEASURES:
        raise InputError(f"it has {shown(metrics['task'])} for 'task'")
    measure = MEASURES[metrics["task"]]
    for name in ("dev", "test"):
        if name not in metrics:
            continue
        scores = metrics[name]
        if not isinstance(scores, dict) or measure not in scores:
            raise InputError(f"it lacks {measure!r} of {name!r}")
        # A tagger without a refiner has the first alone.
        for key in (measure, f"draft_{measure}", f"refined_{measure}"):
            if key in scores and not has_type(scores[key], float):
                raise InputError(f"it has {shown(scores[key])} for {key!r} of {name!r}")
