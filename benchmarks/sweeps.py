"""Scores by Gamma and by number of samples: Figure 4 of the paper.

Intervals are of 95 %, by drawing the sentences of the file anew.

python -m benchmarks.sweeps --run_dir=RUN --data=FILE [--plots=FOLDER]
"""

import pathlib
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.plots import Curve, draw

GAMMAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
SAMPLES = (1, 2, 4, 8, 16, 32)
DRAWS = 1000  # of as many sentences as the file has, for the intervals
LEAST_HEIGHT = 4.0  # points that the y axis covers: more than another seed changes


class _Scores(NamedTuple):
    """A score in percent with its 95 % interval, over sentences drawn anew."""

    score: float
    low: float
    high: float


class Sweep(NamedTuple):
    """The result of ``sweep``.

    Attributes:
      tables: two in Markdown, by Gamma and by M.
      by_gamma: the curve "gated".
      by_samples: the curves "draft" and "gated".
      own_draft: the draft's score with the run's own M, percent.
      measure: "f1" or "accuracy".
    """

    tables: str
    by_gamma: dict[str, Curve]
    by_samples: dict[str, Curve]
    own_draft: float
    measure: str


def sweep(run_dir: str, data: str) -> Sweep:
    """Scores a run under other Gammas and other M.

    Args:
      run_dir: a trained UANet.
      data: labelled CoNLL file.
    """
    import uanet_tf
    from uanet_lite.columns_file import read_corpus

    sentences = read_corpus(data)
    model = uanet_tf.load_model(run_dir)
    measure = "accuracy" if model.label_scheme is None else "f1"
    own = model.threshold

    lines = [f"| Gamma, nats | {measure}, gated | refined tokens |", "| --- | --- | --- |"]
    gated = []
    for gamma in GAMMAS:
        model.threshold = gamma
        _, given, share = _score(model, sentences)
        gated.append(given)
        lines.append(f"| {gamma} | {_cell(given)} | {share:.1f} % |")
    model.threshold = own
    own_draft, _, _ = _score(model, sentences)
    lines += ["", f"| M | {measure}, draft | {measure}, gated | refined tokens |"]
    lines += ["| --- | --- | --- | --- |"]
    by_samples = []
    for count in SAMPLES:
        model.num_samples = count
        draft, given, share = _score(model, sentences)
        by_samples.append((draft, given))
        lines.append(f"| {count} | {_cell(draft)} | {_cell(given)} | {share:.1f} % |")
    drafts, values = zip(*by_samples, strict=True)
    curves = {"draft": _curve(SAMPLES, drafts), "gated": _curve(SAMPLES, values)}
    by_gamma = {"gated": _curve(GAMMAS, gated)}
    return Sweep("\n".join(lines), by_gamma, curves, own_draft.score, measure)


def _score(model: Any, sentences: Any) -> tuple[_Scores, _Scores, float]:
    """Scores of draft and gated labels, and the percentage of refined tokens."""
    from uanet_tf.metrics.scoring import sentence_counts
    from uanet_tf.tagging.streams import tag_in_context

    tagged = [answer for _, answer in tag_in_context(model, sentences)]
    gold = [sentence.labels for sentence in sentences]
    task = "pos" if model.label_scheme is None else "ner"
    draft, gated = (
        _interval(sentence_counts(gold, [getattr(s, name) for s in tagged], task=task))
        for name in ("draft_labels", "labels")
    )
    return draft, gated, 100 * float(np.mean([open for s in tagged for open in s.refined]))


def _interval(counts: np.ndarray) -> _Scores:
    """Counts [N, 3] of right, given and gold items; where all tokens count, F1 is accuracy."""
    draws = np.random.default_rng(0).multinomial(
        len(counts), np.full(len(counts), 1 / len(counts)), size=DRAWS
    )
    drawn = np.concatenate([counts.sum(0)[None], draws @ counts])
    scores = 200 * drawn[:, 0] / np.maximum(drawn[:, 1] + drawn[:, 2], 1)
    low, high = np.percentile(scores[1:], [2.5, 97.5])
    return _Scores(float(scores[0]), float(low), float(high))


def _cell(scores: _Scores) -> str:
    return f"{scores.score:.2f} ({scores.low:.2f} to {scores.high:.2f})"


def _curve(places: Sequence[float], values: Sequence[_Scores]) -> Curve:
    return Curve(places, *map(list, zip(*values, strict=True)))


def plot(found: Sweep, folder: pathlib.Path, name: str) -> None:
    """Writes gamma_NAME.svg and samples_NAME.svg."""
    unit = "F1, percent" if found.measure == "f1" else "accuracy, percent"
    draw(
        folder / f"gamma_{name}.svg",
        {"gated, with 95 % interval": found.by_gamma["gated"]},
        x="Gamma, nats",
        y=unit,
        title=f"{name}: the gate's threshold",
        least_height=LEAST_HEIGHT,
        levels={"draft": found.own_draft},
    )
    draw(
        folder / f"samples_{name}.svg",
        {f"{key}, with 95 % interval": curve for key, curve in found.by_samples.items()},
        x="samples M",
        y=unit,
        title=f"{name}: Monte Carlo samples",
        ticks=SAMPLES,
        least_height=LEAST_HEIGHT,
    )


def pictures(found: Sweep, name: str) -> str:
    """Both figures in Markdown, with alternative texts."""
    gated, draft = found.by_gamma["gated"].y, found.own_draft
    by_gamma = (
        f"{found.measure} of {name} by Gamma: gated {max(gated):.1f} at best, "
        f"{gated[-1]:.1f} at {GAMMAS[-1]} nats, draft {draft:.1f}"
    )
    curves = found.by_samples
    by_samples = (
        f"{found.measure} of {name} by M, from {SAMPLES[0]} to {SAMPLES[-1]}: "
        + ", ".join(f"{key} {curve.y[0]:.1f} to {curve.y[-1]:.1f}" for key, curve in curves.items())
    )
    return f"![{by_gamma}](figures/gamma_{name}.svg) ![{by_samples}](figures/samples_{name}.svg)"


def main() -> None:
    """Prints the tables and, with --plots, draws the figure."""
    parser = make_parser("sweeps", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--plots", metavar="FOLDER")
    parser.add_argument("--name", default="corpus", help="what the figures are called")
    arguments = parser.parse_args()
    found = sweep(arguments.run_dir, arguments.data)
    sys.stdout.write(found.tables + "\n")
    if arguments.plots:
        plot(found, pathlib.Path(arguments.plots), arguments.name)
        sys.stdout.write("\n" + pictures(found, arguments.name) + "\n")


if __name__ == "__main__":
    main()
