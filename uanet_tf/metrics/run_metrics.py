"""``metrics.json`` of a run: what each key is, its unit, and the checks of its readers.

Scores are fractions in the file, and percent in programs and for people. docs/metrics.md is made of
``KEYS``.
"""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, overload

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
FRACTIONS = "fractions"  # the value of "scores" in a file that has them; percent in one without


class Key(NamedTuple):
    """What a key of metrics.json is: its unit, "" where it has none, and its meaning."""

    unit: str
    about: str


_PARTS = {"draft_": "the draft", "refined_": "the refiner, for all tokens"}
# Of "dev", of "test", and of the "dev" of each epoch.
SCORES = {
    "f1": Key("fraction", "Micro F1 of entities, as conlleval and seqeval (strict) count."),
    "precision": Key("fraction", "Precision of entities."),
    "recall": Key("fraction", "Recall of entities."),
    "accuracy": Key("fraction", "Share of tokens with the right label."),
    **{
        f"{part}{name}": Key("fraction", f"The same of {whose}.")
        for part, whose in _PARTS.items()
        for name in MEASURES.values()
    },
    "calibration_error": Key("fraction", "Expected calibration error (ECE) of the labels given."),
    "threshold": Key("nats", "Gamma: tokens more uncertain than it took the refined label."),
    "refined_fraction": Key("fraction", "Share of tokens above Gamma."),
    "right_to_wrong": Key("tokens", "Right as draft, wrong as given."),
    "wrong_to_right": Key("tokens", "Wrong as draft, right as given."),
    "uncertainty_correct": Key("nats", "Mean uncertainty where the draft is right."),
    "uncertainty_wrong": Key("nats", "Mean uncertainty where the draft is wrong."),
    "sentences_per_second": Key("1/s", "Speed of tagging."),
    "types": Key("", "Only in the final scores: by entity type, or label of a token:"),
    "types.TYPE.precision": Key("fraction", "Precision of the type."),
    "types.TYPE.recall": Key("fraction", "Recall of the type."),
    "types.TYPE.f1": Key("fraction", "F1 of the type."),
    "types.TYPE.support": Key("entities", "How many the file has; of single labels, tokens."),
}
KEYS = {
    "scores": Key("", 'The unit of all scores: "fractions", from 0 to 1.'),
    "task": Key("", '"ner", entities, or "pos", labels of single tokens.'),
    "epochs": Key("", "A list with an entry for each epoch:"),
    "epochs.epoch": Key("", "Its number, from 1."),
    "epochs.seconds": Key("s", "Time of its steps."),
    "epochs.sentences_per_second": Key("1/s", "Speed of its steps."),
    "epochs.loss": Key("nats", "Mean loss of a token, of all parts together."),
    "epochs.loss_draft": Key("nats", "That of the drafter, L1 (Eq. 9) without its penalty."),
    "epochs.loss_refined": Key("nats", "That of the refiner, L2 (Eq. 10)."),
    "epochs.learning_rate_draft": Key("", "The drafter's rate after the epoch's last step."),
    "epochs.learning_rate_refined": Key("", "The refiner's."),
    "epochs.learning_rate_pretrained": Key("", "That of a pretrained encoder."),
    "epochs.loss_forward": Key("nats", "Of seq2biseq with two optimizers: that left to right."),
    "epochs.learning_rate_forward": Key("", "Its rate."),
    "epochs.dev": Key("", "Scores on the development file after it, as of dev below."),
    "best_epoch": Key("", "The epoch whose weights were kept, from 1; null: none was eligible."),
    "dev": Key("", "Final scores on the development file:"),
    **{f"dev.{name}": key for name, key in SCORES.items()},
    "test": Key("", "The same on the test file, where one was given."),
    "distilled": Key("", "How near one pass comes to 32 samples (--sampling=distilled):"),
    "distilled.seconds": Key("s", "Training of its head."),
    "distilled.kl": Key("nats", "KL divergence of its draft from that of the samples."),
    "distilled.kl_of_samples": Key("nats", "That of the run's M samples."),
    "distilled.kl_of_one_pass": Key("nats", "That of a pass without dropout and head."),
    "distilled.same_labels_not_o": Key("fraction", "Equal labels, where one is not O."),
    "distilled.same_gate": Key("fraction", "Of tokens above Gamma in either, those in both."),
    "calibration": Key("", "Of the fit of the confidence; GROUP: tokens, entities."),
    "calibration.GROUP.size": Key("tokens or entities", "How many were scored."),
    "calibration.GROUP.ece_before": Key("fraction", "ECE before calibration."),
    "calibration.GROUP.ece_after": Key("fraction", "ECE after it, on the file it is fitted to."),
    "calibration.GROUP.ece_until_now": Key("fraction", "ECE of the calibration until then."),
    "calibration.GROUP.brier_after": Key("", "Brier score: mean of (confidence - right)²."),
    "calibration.GROUP.brier_until_now": Key("", "That of the calibration until then."),
    "calibration.acceptance": Key("", "With --target_precision, of all and by type:"),
    "calibration.acceptance.all.target": Key("fraction", "The target."),
    "calibration.acceptance.all.error": Key("", "Probability that the precision is lower."),
    "calibration.acceptance.all.reached": Key("", "Whether it can be promised."),
    "calibration.acceptance.all.precision": Key("fraction", "Precision of those accepted."),
    "calibration.acceptance.all.answers": Key("", "How many were tested."),
    "calibration.acceptance.all.design_effect": Key("", "Accepted answers for an independent one."),
    "calibration.acceptance.all.threshold": Key("", "Least confidence accepted; 2: nothing is."),
    "calibration.acceptance.all.best": Key("fraction", "The highest target that can be reached."),
    "calibration.acceptance.all.accepted": Key("fraction", "Share of answers accepted."),
    "calibration.acceptance.types": Key("", "Of each type."),
    "calibration.acceptance.by_type": Key("", "Whether types have thresholds."),
    "calibration.candidates": Key("", "What it costs to show spans for a recall:"),
    "calibration.candidates.accepts": Key("", "Whether there is a target precision."),
    "calibration.candidates.costs.target": Key("fraction", "The recall."),
    "calibration.candidates.costs.threshold": Key("", "Least probability of a span; 2: none."),
    "calibration.candidates.costs.recall": Key("fraction", "Entities given or shown."),
    "calibration.candidates.costs.taken": Key("fraction", "Entities accepted."),
    "calibration.candidates.costs.per_1000": Key("", "Spans shown, of 1,000 tokens."),
    "calibration.candidates.costs.per_entity": Key("", "Spans shown, of an entity."),
    "calibration.candidates.curve": Key("", "Pairs of a threshold and its cost."),
    "calibration.candidates.all": Key(
        "", "With --target_recall, as of acceptance; also types, by_type, cost."
    ),
    "monitoring": Key("", "What uanet tag --monitor compares with:"),
    "monitoring.size": Key("sentences", "How many were tagged."),
    "monitoring.traits": Key("", "Of each: kind, name, how many have it, above which value."),
}
_FRACTIONS = {name for name, key in SCORES.items() if key.unit == "fraction"}
_OF_PERCENT = _FRACTIONS - {"refined_fraction"}


def metrics_text(metrics: Mapping[str, Any]) -> str:
    """The content of metrics.json, with fractions, of metrics in percent."""
    return json.dumps({"scores": FRACTIONS, **fractions_of(metrics)}, indent=2) + "\n"


def fractions_of(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics in percent, as metrics.json holds them."""
    return _scaled(metrics, 0.01)


def in_percent(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What a metrics.json holds, with all scores in percent."""
    return _scaled({k: v for k, v in metrics.items() if k != "scores"}, 100.0)


def _scaled(metrics: Mapping[str, Any], factor: float) -> dict[str, Any]:
    found = dict(metrics)
    found["epochs"] = [
        {**epoch, "dev": scaled_scores(epoch["dev"], factor)}
        if isinstance(epoch, dict) and "dev" in epoch
        else epoch
        for epoch in metrics.get("epochs", [])
    ]
    for name in ("dev", "test"):
        if name in found:
            found[name] = scaled_scores(found[name], factor)
    if isinstance(found.get("calibration"), dict):
        found["calibration"] = {
            name: {key: _times(value, factor, key.startswith("ece")) for key, value in part.items()}
            if isinstance(part, dict)
            else part
            for name, part in found["calibration"].items()
        }
    return found


def scaled_scores(scores: Any, factor: float) -> Any:
    """Scores in another unit."""
    if not isinstance(scores, dict):
        return scores
    found = {key: _times(value, factor, key in _OF_PERCENT) for key, value in scores.items()}
    if isinstance(found.get("types"), dict):
        found["types"] = {
            name: scaled_scores(part, factor) for name, part in found["types"].items()
        }
    return found


def _times(value: Any, factor: float, wanted: bool) -> Any:
    if not wanted or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _rounded(value * factor)


@overload
def as_fraction(percent: float) -> float: ...
@overload
def as_fraction(percent: None) -> None: ...
def as_fraction(percent):
    """The fraction that so many percent are; None of None."""
    return None if percent is None else _rounded(0.01 * percent)


def _rounded(value: float) -> float:
    return float(f"{value:.14g}")  # 0.55 of 55, not 0.55 and a bit


def read_run_metrics(path: pathlib.Path) -> dict[str, Any]:
    """Reads the metrics of a run, complete or not; scores are in percent.

    All have ``task``, ``epochs`` and ``best_epoch``; complete ones also the final scores, ``dev``
    and, if there was a test file, ``test``.

    Raises:
      InputError: the file cannot be read, or lacks something.
    """
    try:
        metrics = read_json(path)
        if not isinstance(metrics, dict):
            raise InputError("it is not a JSON object")
        _check(metrics)
        return in_percent(metrics)
    except (OSError, ValueError) as error:
        said = f"{path} cannot be read as the metrics of a run: {one_line(error)}"
        raise InputError(said) from error


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
