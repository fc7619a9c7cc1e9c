"""Trains and scores several systems on one corpus, with several seeds, into one table.

    python -m uanet_tf.evaluation.compare --configs=configs/uanet_fast.flags,configs/other.flags \
        --train_path=A --dev_path=B --test_path=C --seeds=3 --out=DIR -- --epochs=10

A system is called by the name of its flagfile. What stands after "--" goes to every training run,
after the system's own flags: a second --flagfile=RECIPE there overrides them, for all alike. Runs
stand in DIR/SYSTEM/seedN; those that are complete are not trained again, one that was stopped goes
on. Writes DIR/results.md and DIR/results.csv after each run, of all complete runs in DIR: the given
systems first, then any others.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from typing import Any

from uanet_tf.errors import InputError, one_line
from uanet_tf.models.saved_archive import extract_weights
from uanet_tf.weight_file import check_weight_file

TRAIN_SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "train.py"

Row = dict[str, str]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    arguments, extra = _parse(list(sys.argv[1:] if argv is None else argv))
    try:
        compare(arguments, extra)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def compare(arguments: argparse.Namespace, extra: Sequence[str]) -> None:
    """Trains what is missing and writes the tables.

    Raises:
      InputError: a flagfile is missing, or a training run failed.
    """
    out = pathlib.Path(arguments.out)
    configs = [pathlib.Path(name) for name in arguments.configs.split(",") if name]
    _check(configs, arguments.seeds)
    for config in configs:
        for seed in range(1, arguments.seeds + 1):
            run_dir = out / config.stem / f"seed{seed}"
            _train(arguments, config, seed, run_dir, extra)
            write_tables(out, [config.stem for config in configs])
    sys.stdout.write((out / "results.md").read_text("utf-8"))


def _check(configs: Sequence[pathlib.Path], seeds: int) -> None:
    if not configs:
        raise InputError("--configs must name at least one flagfile.")
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1. Received: {seeds}")
    for number, config in enumerate(configs):
        if not config.is_file():
            raise InputError(f"--configs: there is no file {config}.")
        if config.stem in {other.stem for other in configs[:number]}:
            raise InputError(f"--configs: two flagfiles are called {config.stem}.")


def write_tables(out: pathlib.Path, systems: Sequence[str]) -> None:
    """Writes results.md and results.csv from the complete runs below ``out``.

    Args:
      out: directory with the runs, SYSTEM/seedN.
      systems: those to stand first; all others that have a complete run follow.
    """
    rows = []
    others = sorted({path.parent.name for path in out.glob("*/seed*")} - set(systems))
    for system in [*systems, *others]:
        runs = [_metrics(path) for path in sorted((out / system).glob("seed*"))]
        complete = [run for run in runs if run is not None]
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
        "draft": _spread([part[f"draft_{measure}"] for part in scores], 2),
        "all refined": _spread([part[f"refined_{measure}"] for part in scores], 2),
        "dev": _spread([run["dev"][measure] for run in runs], 2),
        "refined share": _spread([100 * part["refined_fraction"] for part in scores], 1, " %"),
        "nats, right": _spread([part["uncertainty_correct"] for part in scores], 4),
        "nats, wrong": _spread([part["uncertainty_wrong"] for part in scores], 3),
        "wrong / right": _spread(ratios, 1),
        "parameters": f"{runs[0]['parameters']:,}",
        "training sentences/s": f"{statistics.median(_training_rates(runs)):.0f}",
        "tagging sentences/s": f"{statistics.median(_tagging_rates(scores)):.0f}",
        "best epochs": ", ".join(str(run["best_epoch"]) for run in runs),
    }


def _training_rates(runs: Sequence[dict[str, Any]]) -> list[float]:
    return [epoch["sentences_per_second"] for run in runs for epoch in run["epochs"]]


def _tagging_rates(scores: Sequence[dict[str, Any]]) -> list[float]:
    return [part["sentences_per_second"] for part in scores]


def _spread(values: Sequence[float | None], digits: int, unit: str = "") -> str:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return "-"
    mean = f"{statistics.mean(numbers):.{digits}f}"
    if len(numbers) == 1:
        return mean + unit
    return f"{mean} +- {statistics.stdev(numbers):.{digits}f}{unit}"


def _metrics(run_dir: pathlib.Path) -> dict[str, Any] | None:
    """metrics.json of a complete run, with the number of parameters; else None."""
    model = run_dir / "model.keras"
    if not model.exists():
        return None
    metrics = json.loads((run_dir / "metrics.json").read_text("utf-8"))
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


def _train(
    arguments: argparse.Namespace,
    config: pathlib.Path,
    seed: int,
    run_dir: pathlib.Path,
    extra: Sequence[str],
) -> None:
    if _metrics(run_dir) is not None:
        return
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    paths = [
        f"--{name}_path={getattr(arguments, f'{name}_path')}"
        for name in ("train", "dev", "test")
        if getattr(arguments, f"{name}_path")
    ]
    command = [
        sys.executable,
        str(TRAIN_SCRIPT),
        f"--flagfile={config}",
        *paths,
        f"--seed={seed}",
        f"--run_dir={run_dir}",
        *extra,
    ]
    sys.stderr.write(" ".join(command) + "\n")
    code = subprocess.run(command, check=False).returncode
    if code:
        raise InputError(f"Training of {config} with seed {seed} failed with exit code {code}.")


def _parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    cut = argv.index("--") if "--" in argv else len(argv)
    parser = argparse.ArgumentParser(
        prog="python -m uanet_tf.evaluation.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--configs", required=True, help="flagfiles, separated by commas")
    parser.add_argument("--train_path", required=True, metavar="FILE")
    parser.add_argument("--dev_path", required=True, metavar="FILE")
    parser.add_argument("--test_path", default="", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 1 to N (default: 3)")
    parser.add_argument("--out", required=True, metavar="DIR")
    return parser.parse_args(argv[:cut]), argv[cut + 1 :]


if __name__ == "__main__":
    sys.exit(main())
