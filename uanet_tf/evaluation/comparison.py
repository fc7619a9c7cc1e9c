"""Tables of several systems, each trained with several seeds."""

import contextlib
import csv
import io
import pathlib
import platform
import statistics
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import uanet_tf
from uanet_lite.atomic_file import atomic_file
from uanet_tf.config import iter_options, load_config
from uanet_tf.errors import InputError, one_line
from uanet_tf.files.weight_file import check_weight_file
from uanet_tf.formats.table import Reading, read_labelled
from uanet_tf.metrics.resampling import approximate_randomization
from uanet_tf.metrics.run_metrics import as_fraction, read_run_metrics
from uanet_tf.metrics.scoring import f1_of_counts, sentence_counts
from uanet_tf.models.loading import extract_weights
from uanet_tf.tensorflow_stack import installed
from uanet_tf.text.display_width import align


class Cell(NamedTuple):
    """A number of several runs: the values of those that have it, shown with so many ``digits``.

    Attributes:
      spread: whether the values are those of seeds, shown with their standard deviation; else the
        median is shown.
      percent: whether the values are; programs get fractions.
    """

    values: list[float]
    digits: int
    spread: bool = True
    percent: bool = False

    def middle(self) -> float:
        """Mean of the seeds, or the median."""
        return (statistics.mean if self.spread else statistics.median)(self.values)

    def text(self) -> str:
        """For people: "70.00 ± 0.71"; "-" without values."""
        if not self.values:
            return "-"
        text = f"{self.middle():,.{self.digits}f}"
        if self.spread and len(self.values) > 1:
            text += f" ± {statistics.stdev(self.values):.{self.digits}f}"
        return text

    def numbers(self, name: str) -> dict[str, float]:
        """For programs: {name: number}, of seeds with the standard deviation as NAME_sd."""
        found = {name: self.middle()} if self.values else {}
        if self.spread and len(self.values) > 1:
            found[f"{name}_sd"] = statistics.stdev(self.values)
        return {key: as_fraction(value) for key, value in found.items()} if self.percent else found


class Row(NamedTuple):
    """One system: its name, its number of complete runs, {column: cell}."""

    system: str
    seeds: int
    cells: dict[str, Cell]


# Columns of the terminal, where they have values.
_SHORT = ("f1", "accuracy", "dev", "draft", "p", "tagging_sentences_per_second")
_HEADS = {
    "f1": "F1",
    "draft": "draft",
    "refined": "all refined",
    "refined_fraction": "refined, %",
    "nats_right": "nats, right",
    "nats_wrong": "nats, wrong",
    "wrong_over_right": "wrong / right",
    "training_sentences_per_second": "training sentences/s",
    "tagging_sentences_per_second": "sentences/s",
    "p": "p",
}
_TRAINED_BY = ("drafter_optimizer", "epochs", "min_steps", "batch_size")
_SAMPLES = (
    "num_samples=0 drafts in one pass without dropout, the baseline of samples, and is refined as "
    "the others are; num_samples=1 is one pass with dropout, a single draw, worse than both."
)


def write_tables(
    out: pathlib.Path,
    systems: Sequence[str],
    differences: Mapping[str, float] | None = None,
    *,
    swept: Mapping[str, Mapping[str, list[float]]] | None = None,
    about: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Writes results.md, results.csv and results.tex from the complete runs below ``out``.

    Args:
      systems: those to list first; all others that have a complete run follow.
      differences: {system: p of its difference from the first system}.
      swept: {system: {column: scores of its seeds}}, see ``sweep_scores``.
      about: what the tables say of where they are from, by name.

    Returns:
      The columns that matter most as plain text, for a terminal.
    """
    rows = []
    others = sorted({path.parent.name for path in out.glob("*/seed*")} - set(systems))
    for system in [*systems, *others]:
        runs = [complete_metrics(path) for path in sorted((out / system).glob("seed*"))]
        complete = [run for run in runs if run is not None]
        if len({run["task"] for run in complete}) > 1:
            said = "holds runs of different tasks: compare one at a time."
            raise InputError(f"{out / system} {said}")
        if complete:
            cells = summarize(complete)
            if differences is not None and system in differences:
                cells["p"] = Cell([differences[system]], 4, spread=False)
            for name, values in (swept or {}).get(system, {}).items():
                cells[name] = Cell(values, 2, percent=True)
            rows.append(Row(system, len(complete), cells))
    # A column that no system has a value for says nothing: draft, say, among taggers without one.
    columns = list(dict.fromkeys(n for row in rows for n, cell in row.cells.items() if cell.values))
    notes = training_differences(out, [row.system for row in rows])
    notes += [_SAMPLES] if any("num_samples=" in name for name in columns) else []
    texts = _texts(rows, columns)
    check_tables(out)
    page, latex = _page(texts, about, notes), _latex(texts, about, notes)
    for name, text in {"md": page, "csv": _csv(rows, columns), "tex": latex}.items():
        with atomic_file(out / f"results.{name}") as part:
            pathlib.Path(part).write_text(text, encoding="utf-8")
    names = [*(name for name in _SHORT if name in columns), *(n for n in columns if "=" in n)]
    short = align(_texts(rows, names))
    return "".join(f"{line}\n" for line in [*notes, *short])


def training_differences(out: pathlib.Path, systems: Sequence[str]) -> list[str]:
    """A sentence on how the systems are not trained alike; none where they are."""
    found: dict[str, dict[str, str]] = {name: {} for name in _TRAINED_BY}
    for system in systems:
        for path in sorted((out / system).glob("seed*/config.json"))[:1]:
            values = {f.name: value for _, f, value in iter_options(load_config(str(path.parent)))}
            for name in _TRAINED_BY:
                found[name].setdefault(str(values[name]), system)
                if found[name][str(values[name])] != system:
                    found[name][str(values[name])] += f" and {system}"
    said = [
        f"{name} is {', '.join(f'{value} in {where}' for value, where in values.items())}"
        for name, values in found.items()
        if len(values) > 1
    ]
    text = f"NOT TRAINED ALIKE, so not a comparison of systems: {'; '.join(said)}."
    return [text] if said else []


def versions() -> str:
    """Of the package, of TensorFlow and of Python."""
    names = [name for name in ("tensorflow", "tensorflow-cpu") if installed(name)]
    found = [f"uanet_tf {uanet_tf.__version__}", *(f"{name} {installed(name)}" for name in names)]
    return ", ".join([*found, f"Python {platform.python_version()}"])


def check_tables(out: pathlib.Path) -> None:
    """Raises InputError if a file of results is there, and is no such table."""
    starts = {"md": ("# uanet compare", "| system |"), "csv": ("system,",), "tex": ("% uanet",)}
    for name, begins in starts.items():
        path = out / f"results.{name}"
        if path.exists() and not path.read_text("utf-8", "replace").startswith(begins):
            raise InputError(f"{path} is no table of uanet compare: name another `output`.")


def _page(table: Sequence[Sequence[str]], about: Mapping[str, str], notes: Sequence[str]) -> str:
    """Markdown."""
    head, *rows = table
    lines = ["# uanet compare", "", *(f"- {name}: `{text}`" for name, text in about.items())]
    lines += ["", *(f"**{note}**\n" for note in notes)]
    lines += [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


_LATEX = str.maketrans({"_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "±": r"$\pm$"})


def _latex(table: Sequence[Sequence[str]], about: Mapping[str, str], notes: Sequence[str]) -> str:
    """A table of the package booktabs."""
    head, *rows = [" & ".join(row).translate(_LATEX).replace(r" \& ", " & ") for row in table]
    said = [*(f"{name}: {text}" for name, text in about.items()), *notes]
    lines = ["% uanet compare", *(f"% {each}" for each in said)]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(table[0]) - 1)}}}", r"\toprule"]
    lines += [rf"{head} \\", r"\midrule", *(rf"{row} \\" for row in rows), r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"


def _texts(rows: Sequence[Row], columns: Sequence[str]) -> list[list[str]]:
    heads = (name if "=" in name else _HEADS.get(name, name.replace("_", " ")) for name in columns)
    table = [["system", "seeds", *heads]]
    for row in rows:
        texts = [row.cells[name].text() if name in row.cells else "-" for name in columns]
        table.append([row.system, str(row.seeds), *texts])
    return table


def _csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Numbers with all their digits, scores as fractions; nothing where there is no value."""
    records: list[dict[str, Any]] = [{"system": row.system, "seeds": row.seeds} for row in rows]
    for record, row in zip(records, rows, strict=True):
        for name, cell in row.cells.items():
            record |= cell.numbers(name)
    # Of some seeds a column has a standard deviation: it stands beside the column.
    used = {field for record in records for field in record}
    fields = [field for name in columns for field in (name, f"{name}_sd") if field in used]
    table = io.StringIO()
    writer = csv.DictWriter(table, ["system", "seeds", *fields], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return table.getvalue()


def summarize(runs: Sequence[dict[str, Any]]) -> dict[str, Cell]:
    """The numbers of a system, from runs of different seeds.

    Scores are of the test file, or of the development file where there is none.
    """
    measure = "f1" if runs[0]["task"] == "ner" else "accuracy"
    scores = [run.get("test", run["dev"]) for run in runs]

    def each(name: str) -> list[float]:
        return [part[name] for part in scores if part.get(name) is not None]

    ratios = [
        part["uncertainty_wrong"] / part["uncertainty_correct"]
        for part in scores
        if part["uncertainty_wrong"] and part["uncertainty_correct"]
    ]
    speeds = [epoch["sentences_per_second"] for run in runs for epoch in run["epochs"]]
    return {
        measure: Cell(each(measure), 2, percent=True),
        "dev": Cell([run["dev"][measure] for run in runs], 2, percent=True),
        "draft": Cell(each(f"draft_{measure}"), 2, percent=True),
        "refined": Cell(each(f"refined_{measure}"), 2, percent=True),
        "refined_fraction": Cell([100 * x for x in each("refined_fraction")], 1, percent=True),
        "nats_right": Cell(each("uncertainty_correct"), 4),
        "nats_wrong": Cell(each("uncertainty_wrong"), 3),
        "wrong_over_right": Cell(ratios, 1),
        "parameters": Cell([runs[0]["parameters"]], 0, spread=False),
        "training_sentences_per_second": Cell(speeds, 0, spread=False),
        "tagging_sentences_per_second": Cell(each("sentences_per_second"), 0, spread=False),
        "best_epoch": Cell([run["best_epoch"] for run in runs if run["best_epoch"]], 0, False),
    }


def complete_metrics(run_dir: pathlib.Path) -> dict[str, Any] | None:
    """metrics.json of a complete run, with the number of parameters; else None."""
    model = run_dir / "model.keras"
    if not model.exists():
        return None
    metrics = read_run_metrics(run_dir / "metrics.json")
    return {**metrics, "parameters": count_parameters(model)} if "dev" in metrics else None


def count_parameters(model: pathlib.Path) -> int:
    """Weights stored in a ``.keras`` file, without loading the model; InputError: unreadable."""
    try:
        with tempfile.TemporaryDirectory(prefix="uanet_tf_") as folder:
            return check_weight_file(extract_weights(model, pathlib.Path(folder)))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{model} cannot be read as a model: {one_line(error)}") from error


def differences_from_first(
    out: pathlib.Path, systems: Sequence[str], seeds: int, path: str
) -> dict[str, float]:
    """P of the difference of each further system from the first: ``approximate_randomization``.

    All runs below ``out``, SYSTEM/seed1 to SYSTEM/seedN, are complete.

    Raises:
      InputError: a run or the file cannot be read.
    """
    runs = [[out / system / f"seed{seed}" for seed in range(1, seeds + 1)] for system in systems]
    first, *others = (np.asarray(sum(_counts(run, path) for run in each)) for each in runs)
    found = (approximate_randomization(first, other) for other in others)
    return dict(zip(systems[1:], found, strict=True))


def sweep_scores(
    out: pathlib.Path, systems: Sequence[str], seeds: int, path: str, grid: Sequence[dict[str, Any]]
) -> dict[str, dict[str, list[float]]]:
    """Final scores under other inference options: {system: {"num_samples=1": of each seed}}.

    ``grid`` has the options of each column. A system that cannot follow them has none there.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for system in systems:
        columns = found.setdefault(system, {})
        for seed in range(1, seeds + 1):
            for options in grid:
                name = ", ".join(f"{key}={value}" for key, value in options.items())
                with contextlib.suppress(InputError):
                    counts = _counts(out / system / f"seed{seed}", path, **options).sum(0)
                    columns.setdefault(name, []).append(float(f1_of_counts(counts)))
    return found


def _counts(run_dir: pathlib.Path, path: str, **options: Any) -> np.ndarray:
    """[N, 3] counts of the run's answers for N sentences, with other inference options."""
    from uanet_tf.models.loading import load_model
    from uanet_tf.tagging.streams import tag_in_context

    data = load_config(str(run_dir)).data
    sentences = read_labelled(path, Reading.of_settings(data))
    model = load_model(run_dir, **options)
    labels = [answer.labels for _, answer in tag_in_context(model, sentences)]
    task = "pos" if model.label_scheme is None else "ner"
    return sentence_counts([sentence.labels for sentence in sentences], labels, task=task)
