"""Scores of runs whose refiner reads documents: with the document, and sentence by sentence.

    python -m benchmarks.document_reading --data=FILE [--data=FILE ...] RUN RUN ...

The runs are of one system, trained with different seeds with --refiner_context=document or auto.
Prints, in Markdown, the score (F1 of entities, or accuracy) of the gated labels and what they gain
over the draft, run by run, then mean and standard deviation. Sentence by sentence is how servers,
TensorFlow Lite files and lists of words are read.
"""

import argparse
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.metrics.scoring import score_systems
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context

WAYS = {"document": False, "sentence": True}


class Scored(NamedTuple):
    """Scores of one run on one file, percent."""

    gated: float
    draft: float


def score(model: Any, sentences: Sequence[Sentence], *, alone: bool) -> Scored:
    """Tags the sentences.

    Args:
      model: of a run.
      sentences: of a labelled file.
      alone: each sentence by itself.
    """
    answers = [answer for _, answer in tag_in_context(model, sentences, alone=alone)]
    task, name = ("pos", "accuracy") if model.label_scheme is None else ("ner", "f1")
    scores = score_systems(
        [sentence.labels for sentence in sentences],
        task=task,
        gated=[answer.labels for answer in answers],
        draft=[answer.draft_labels for answer in answers],
    )
    return Scored(scores["gated"][name], scores["draft"][name])


def rows(name: str, found: dict[str, list[Scored]]) -> list[str]:
    """The rows of one file, a row for each way of reading; ``found`` has the runs' scores."""
    lines = []
    for way, scored in found.items():
        gated = np.array([each.gated for each in scored])
        gains = gated - [each.draft for each in scored]
        cells = [name, way, ", ".join(f"{value:.2f}" for value in gated), _spread(gated)]
        cells += [", ".join(f"{value:+.2f}" for value in gains), _spread(gains, "+")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _spread(values: np.ndarray, sign: str = "") -> str:
    sd = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):{sign}.2f}{sd}"


def main(arguments: argparse.Namespace, write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Tags each file with each run both ways, and writes the table."""
    models = [load_model(run_dir) for run_dir in arguments.run_dirs]
    write("| file | read by | gated | mean | gated less draft | mean |\n|" + 6 * " --- |" + "\n")
    for path in arguments.data:
        sentences = read_corpus(path)
        found = {
            way: [score(model, sentences, alone=alone) for model in models]
            for way, alone in WAYS.items()
        }
        write("\n".join(rows(pathlib.Path(path).stem, found)) + "\n")


if __name__ == "__main__":
    parser = make_parser("document_reading", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    parser.add_argument("--data", action="append", required=True)
    main(parser.parse_args())
