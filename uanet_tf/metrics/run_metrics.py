"""``metrics.json`` of a run, checked for the entries that its readers need."""

import pathlib
from collections.abc import Sequence
from typing import Any

from uanet_lite.strict_json import has_type, read_json, shown
from uanet_tf.errors import InputError, one_line

MEASURES = {"ner": "f1", "pos": "accuracy"}
_MOST = 1e15
# A tagger without a refiner has no such scores, one for parts of speech no spans.
_OPTIONAL = (
    "precision",
    "recall",
    "accuracy",
    "calibration_error",
    "threshold",
    "refined_fraction",
    "right_to_wrong",
    "wrong_to_right",
)


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
    for number, epoch in enumerate(metrics["epochs"], 1):
        _check_numbers(epoch, ("sentences_per_second",), f"epoch {number}")
    measure = MEASURES[metrics["task"]]
    for name in ("dev", "test"):
        if name in metrics:
            _check_numbers(
                metrics[name],
                (measure, "sentences_per_second"),
                repr(name),
                (f"draft_{measure}", f"refined_{measure}", *_OPTIONAL),
                # null: of no tokens there is no mean.
                ("uncertainty_correct", "uncertainty_wrong"),
            )
    if "distilled" in metrics:
        nearness = ("kl", "kl_of_samples", "same_labels_not_o")
        _check_numbers(metrics["distilled"], nearness, "'distilled'", ("same_gate",))


def _check_numbers(
    scores: Any,
    required: Sequence[str],
    where: str,
    optional: Sequence[str] = (),
    nullable: Sequence[str] = (),
) -> None:
    """Raises InputError if these are not numbers, of a size that arithmetic can do with."""
    if not isinstance(scores, dict):
        raise InputError(f"it has {shown(scores)} for {where}")
    for key in (*required, *nullable):
        if key not in scores:
            raise InputError(f"it lacks {key!r} of {where}")
    for key in (*required, *optional, *nullable):
        value: Any = scores.get(key)
        if key not in required and value is None:
            continue
        if not has_type(value, float) or abs(value) > _MOST:
            raise InputError(f"it has {shown(value)} for {key!r} of {where}")
