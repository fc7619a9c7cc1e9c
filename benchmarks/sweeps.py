"""Scores by Gamma and by number of samples: Figure 4 of the paper.

python -m benchmarks.sweeps --run_dir=RUN --data=FILE [--plots=FOLDER]
"""

import argparse
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.plots import Curve, draw

GAMMAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
SAMPLES = (1, 2, 4, 8, 16, 32)


def sweep(run_dir: str, data: str) -> tuple[str, dict[str, Curve], dict[str, Curve], str]:
    """Scores a run under other Gammas and other M.

    Args:
      run_dir: a trained UANet.
      data: labelled CoNLL file.

    Returns:
      Two Markdown tables, the curves by Gamma, the curves by M, and the name of the score.
    """
    import uanet_tf
    from uanet_tf.data.conll import read_corpus
    from uanet_tf.training.corpus_scorer import score_corpus

    sentences = read_corpus(data)
    model = uanet_tf.load_model(run_dir)
    task = "pos" if model.label_scheme is None else "ner"
    measure = "f1" if task == "ner" else "accuracy"
    own = model.threshold

    def score() -> tuple[float, float, float]:
        scores = score_corpus(model, sentences, task)
        return scores[f"draft_{measure}"], scores[measure], 100 * scores["refined_fraction"]

    lines = [f"| Gamma, nats | {measure}, gated | refined tokens |", "| --- | --- | --- |"]
    gated = []
    for gamma in GAMMAS:
        model.threshold = gamma
        _, value, share = score()
        gated.append(value)
        lines.append(f"| {gamma} | {value:.2f} | {share:.1f} % |")
    model.threshold = own
    lines += ["", f"| M | {measure}, draft | {measure}, gated | refined tokens |"]
    lines += ["| --- | --- | --- | --- |"]
    by_samples: list[tuple[float, float]] = []
    for count in SAMPLES:
        model.num_samples = count
        draft, value, share = score()
        by_samples.append((draft, value))
        lines.append(f"| {count} | {draft:.2f} | {value:.2f} | {share:.1f} % |")
    drafts, values = zip(*by_samples, strict=True)
    return (
        "\n".join(lines),
        {"gated": (GAMMAS, gated)},
        {"draft": (SAMPLES, drafts), "gated": (SAMPLES, values)},
        measure,
    )


def plot(
    by_gamma: dict[str, Curve],
    by_samples: dict[str, Curve],
    measure: str,
    folder: pathlib.Path,
    name: str,
) -> None:
    """Writes gamma_NAME.svg and samples_NAME.svg."""
    unit = "F1, percent" if measure == "f1" else "accuracy, percent"
    draft = by_samples["draft"][1][SAMPLES.index(8)]
    draw(
        folder / f"gamma_{name}.svg",
        by_gamma,
        x="Gamma, nats",
        y=unit,
        title=f"{name}: the gate's threshold",
        levels={"draft": draft},
    )
    draw(
        folder / f"samples_{name}.svg",
        by_samples,
        x="samples M",
        y=unit,
        title=f"{name}: Monte Carlo samples",
        zero=False,
    )


def main() -> None:
    """Prints the tables and, with --plots, draws the figure."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sweeps",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--plots", metavar="FOLDER")
    parser.add_argument("--name", default="corpus", help="what the figures are called")
    arguments = parser.parse_args()
    tables, by_gamma, by_samples, measure = sweep(arguments.run_dir, arguments.data)
    sys.stdout.write(tables + "\n")
    if arguments.plots:
        folder = pathlib.Path(arguments.plots)
        plot(by_gamma, by_samples, measure, folder, arguments.name)


if __name__ == "__main__":
    main()
