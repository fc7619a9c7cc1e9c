"""Tables of several systems, each trained with several seeds."""

import csv
import io
import pathlib
import statistics
import tempfile
import zipfile
from collections.abc import Sequence
from typing import Any

from uanet_tf.errors import InputError, one_line
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.models.saved_archive import extract_weights
from uanet_tf.weight_file import check_weight_file

Row = dict[str, str]


def write_tables(out: pathlib.Path, systems: Sequence[str]) -> None:
    """Writes results.md and results.csv from the complete runs below ``out``.

    Args:
      out: directory with the runs, SYSTEM/seedN.
      systems: those to list first; all others that have a complete run follow.
    """
    rows = []
    others = sorted({path.parent.name for path in out.glob("*/seed*")} - set(systems))
    for system in [*systems, *others]:
        runs = [complete_metrics(path) for path in sorted((out / system).glob("seed*"))]
        complete = [run for run in runs if run is not None]
        if len({run["task"] for run in complete}) > 1:
            raise InputError(
                f"{out / system} holds runs of different tasks: compare one at a time."
            )
        if complete:
            rows.append({"system": system, "seeds": str(len(complete)), **summarize(complete)})
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    lines += ["| " + " | ".join(row.get(name, "") for name in columns) + " |" for row in rows]
    (out / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = io.StringIO()
    writer = csv.DictWriter(table, columns)
    writer.writeheader()
    writer.writerows(rows)
    (out / "results.csv").write_text(table.getvalue(), encoding="utf-8")


def summarize(runs: Sequence[dict[str, Any]]) -> Row:
    """One row of the table: mean +- standard deviation over runs of different seeds.

    Scores are of the test file, or of the development file where there is none.
    """
    measure = "f1" if runs[0]["task"] == "ner" else "accuracy"
    scores = [run.get("test", run["dev"]) for run in runs]
    ratios = [
        part["uncertainty_wrong"] / part["uncertainty_correct"]
        for part in scores
        if part["uncertainty_wrong"] and part["uncertainty_correct"]
    ]
    return {
        measure: _spread([part[measure] for part in scores], 2),
        "draft": _spread([part.get(f"draft_{measure}") for part in scores], 2),
        "all refined": _spread([part.get(f"refined_{measure}") for part in scores], 2),
        "dev": _spread([run["dev"][measure] for run in runs], 2),
        "refined share": _spread(_refined_shares(scores), 1, " %"),
        "nats, right": _spread([part["uncertainty_correct"] for part in scores], 4),
        "nats, wrong": _spread([part["uncertainty_wrong"] for part in scores], 3),
        "wrong / right": _spread(ratios, 1),
        "parameters": f"{runs[0]['parameters']:,}",
        "training sentences/s": _median(_training_rates(runs)),
        "tagging sentences/s": _median(_tagging_rates(scores)),
        "best epochs": ", ".join(str(run["best_epoch"]) for run in runs),
    }


def _refined_shares(scores: Sequence[dict[str, Any]]) -> list[float]:
    shares = [part.get("refined_fraction") for part in scores]
    return [100 * share for share in shares if share is not None]


def _training_rates(runs: Sequence[dict[str, Any]]) -> list[float]:
    return [epoch["sentences_per_second"] for run in runs for epoch in run["epochs"]]


def _tagging_rates(scores: Sequence[dict[str, Any]]) -> list[float]:
    return [part["sentences_per_second"] for part in scores]


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0f}" if values else "-"


def _spread(values: Sequence[float | None], digits: int, unit: str = "") -> str:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return "-"
    mean = f"{statistics.mean(numbers):.{digits}f}"
    if len(numbers) == 1:
        return mean + unit
    return f"{mean} +- {statistics.stdev(numbers):.{digits}f}{unit}"


def complete_metrics(run_dir: pathlib.Path) -> dict[str, Any] | None:
    """metrics.json of a complete run, with the number of parameters; else None."""
    model = run_dir / "model.keras"
    if not model.exists():
        return None
    metrics = read_run_metrics(run_dir / "metrics.json")
    return {**metrics, "parameters": count_parameters(model)} if "dev" in metrics else None


def count_parameters(model: pathlib.Path) -> int:
    """Weights stored in a ``.keras`` file, without loading the model.

    Raises:
      InputError: it cannot be read.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
            return check_weight_file(extract_weights(model, pathlib.Path(folder)))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{model} cannot be read as a model: {one_line(error)}") from error
