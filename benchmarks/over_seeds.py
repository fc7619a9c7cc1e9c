"""Scores by Gamma, by M and by sentence length, over seeds: Figures 4 and 3 (right) of the paper.

    python -m benchmarks.over_seeds --data=FILE [--baseline=RUN ...] [--plots=FOLDER --name=NAME]
        RUN RUN ...

The runs are of one UANet, the baselines of another system, each trained with several seeds.
Prints, in Markdown, mean and standard deviation over the runs; by Gamma and by M also of the
difference from the first row, run by run, as in Figure 4. By length, the sentences are in five
parts of like number.
"""

import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.plots import Curve, draw
from benchmarks.sweeps import GAMMAS, LEAST_HEIGHT, SAMPLES
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.metrics.scoring import sentence_counts
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context

PARTS = 5


class Counts(NamedTuple):
    """Right, given and gold items of each sentence, [S, 3], and the share of refined tokens."""

    draft: np.ndarray
    gated: np.ndarray
    refined: float


def count(model: Any, sentences: Sequence[Sentence]) -> Counts:
    """Tags the sentences with the model as it is set."""
    tagged = [answer for _, answer in tag_in_context(model, sentences)]
    gold = [sentence.labels for sentence in sentences]
    task = "pos" if model.label_scheme is None else "ner"
    draft, gated = (
        sentence_counts(gold, [getattr(answer, name) for answer in tagged], task=task)
        for name in ("draft_labels", "labels")
    )
    opened = [each for answer in tagged for each in answer.refined]
    return Counts(draft, gated, 100 * float(np.mean(opened)))


def score(counts: np.ndarray) -> float:
    """F1, or accuracy where all tokens count, percent."""
    right, given, gold = counts.sum(axis=0)
    return 200.0 * right / max(given + gold, 1)


def parts_by_length(lengths: np.ndarray) -> list[np.ndarray]:
    """Indices of sentences [S], in ``PARTS`` parts of ascending length, equal lengths together."""
    limits = np.quantile(lengths, np.linspace(0, 1, PARTS + 1)[1:-1])
    numbers = np.searchsorted(limits, lengths, side="left")
    return [np.flatnonzero(numbers == k) for k in range(PARTS) if (numbers == k).any()]


class Found(NamedTuple):
    """Scores in percent, a row for each run.

    Attributes:
      by_gamma: [R, G] gated.
      refined: [R, G] percent of tokens above Gamma.
      drafts, gated: [R, M] by number of samples.
      by_length: by system, [R, P].
      lengths: shortest and longest sentence of each of P parts.
    """

    by_gamma: np.ndarray
    refined: np.ndarray
    drafts: np.ndarray
    gated: np.ndarray
    by_length: dict[str, np.ndarray]
    lengths: list[tuple[int, int]]


def measure(run_dirs: Sequence[str], baselines: Sequence[str], path: str) -> Found:
    """Tags the file with each run under each Gamma and each M, and with the baselines."""
    sentences = read_corpus(path)
    lengths = np.array([len(sentence.tokens) for sentence in sentences])
    parts = parts_by_length(lengths)
    by_gamma, by_samples = [], []
    rows: dict[str, list[list[float]]] = {"gated": [], "draft": [], "baseline": []}
    for run_dir in run_dirs:
        model: Any = load_model(run_dir)
        own = count(model, sentences)
        for name in ("gated", "draft"):
            rows[name].append([score(getattr(own, name)[part]) for part in parts])
        threshold = model.threshold
        found = _under(model, sentences, threshold=GAMMAS)
        by_gamma.append([(score(each.gated), each.refined) for each in found])
        model.threshold = threshold
        found = _under(model, sentences, num_samples=SAMPLES)
        by_samples.append([(score(each.draft), score(each.gated)) for each in found])
    for run_dir in baselines:
        own = count(load_model(run_dir), sentences)
        rows["baseline"].append([score(own.gated[part]) for part in parts])
    gated, refined = np.moveaxis(np.array(by_gamma), -1, 0)
    drafts, gated_by_samples = np.moveaxis(np.array(by_samples), -1, 0)
    return Found(
        gated,
        refined,
        drafts,
        gated_by_samples,
        {name: np.array(values) for name, values in rows.items() if values},
        [(int(lengths[part].min()), int(lengths[part].max())) for part in parts],
    )


def _under(model: Any, sentences: Sequence[Sentence], **values: Sequence[float]) -> list[Counts]:
    """What the model answers under each value of an option."""
    ((name, given),) = values.items()
    found = []
    for value in given:
        model.set_options(**{name: value})
        found.append(count(model, sentences))
    return found


def _cell(values: np.ndarray, form: str = ".2f") -> str:
    """Mean and standard deviation over the runs."""
    sd = f" ± {np.std(values, ddof=1):{form}}" if len(values) > 1 else ""
    return f"{np.mean(values):{form}}{sd}"


def tables(found: Found) -> str:
    """Three tables in Markdown."""
    lines = [
        "| Gamma, nats | gated | less Gamma = 0 | refined tokens, % |",
        "| --- |" + 3 * " --- |",
    ]
    change = found.by_gamma - found.by_gamma[:, :1]
    for k, gamma in enumerate(GAMMAS):
        cells = [_cell(found.by_gamma[:, k]), _cell(change[:, k])]
        cells.append(_cell(found.refined[:, k], ".1f"))
        lines.append(f"| {gamma} | {' | '.join(cells)} |")
    lines += ["", "| M | draft | less M = 1 | gated | less M = 1 |", "| --- |" + 4 * " --- |"]
    for k, samples in enumerate(SAMPLES):
        cells = [
            _cell(values)
            for scores in (found.drafts, found.gated)
            for values in (scores[:, k], scores[:, k] - scores[:, 0])
        ]
        lines.append(f"| {samples} | {' | '.join(cells)} |")
    lines += ["", f"| tokens per sentence | {' | '.join(found.by_length)} |"]
    lines.append("| --- |" + len(found.by_length) * " --- |")
    for k, (low, high) in enumerate(found.lengths):
        cells = [_cell(values[:, k]) for values in found.by_length.values()]
        lines.append(f"| {low} to {high} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plot(found: Found, folder: pathlib.Path, name: str) -> None:
    """Writes over_seeds_gamma_NAME.svg, .._samples_NAME.svg and .._length_NAME.svg."""

    def curve(places: Sequence[float], values: np.ndarray) -> Curve:
        mean, sd = values.mean(axis=0), values.std(axis=0, ddof=1) if len(values) > 1 else 0.0
        return Curve(places, list(mean), list(mean - sd), list(mean + sd))

    def less_first(values: np.ndarray) -> np.ndarray:
        return values - values[:, :1]

    of_gamma = {"gated": curve(GAMMAS, less_first(found.by_gamma))}
    of_samples = {
        "draft": curve(SAMPLES, less_first(found.drafts)),
        "gated": curve(SAMPLES, less_first(found.gated)),
    }
    middles = [(low + high) / 2 for low, high in found.lengths]
    of_length = {key: curve(middles, values) for key, values in found.by_length.items()}
    figures: list[tuple[str, dict[str, Curve], str, str, Sequence[float] | None]] = [
        ("gamma", of_gamma, "Gamma, nats", "points over Gamma = 0", None),
        ("samples", of_samples, "samples M", "points over M = 1", SAMPLES),
        ("length", of_length, "tokens per sentence (middle of the part)", "score, percent", None),
    ]
    for key, curves, x, y, ticks in figures:
        draw(
            folder / f"over_seeds_{key}_{name}.svg",
            curves,
            x=x,
            y=y,
            title=f"{name}: mean ± standard deviation over seeds",
            ticks=ticks,
            least_height=LEAST_HEIGHT,
        )


def main(arguments: Any, write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Prints the tables and, with --plots, draws the figures."""
    found = measure(arguments.run_dirs, arguments.baseline, arguments.data)
    write(tables(found))
    if arguments.plots:
        plot(found, pathlib.Path(arguments.plots), arguments.name)


if __name__ == "__main__":
    parser = make_parser("over_seeds", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--baseline", action="append", default=[], metavar="RUN")
    parser.add_argument("--plots", metavar="FOLDER")
    parser.add_argument("--name", default="corpus", help="what the figures are called")
    main(parser.parse_args())
