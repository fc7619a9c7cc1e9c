"""How many of the wrong labels stand in the sentences that `uanet rank` puts first.

    python -m benchmarks.rank RUN RUN ... [--share=0.1]

Tags the development and test files of each run, ranks their sentences by each score, takes the
first until they hold the share of all tokens, and prints, in Markdown, the percentage of all wrong
tokens that these hold: mean and standard deviation over the runs.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.command_line import make_parser
from uanet_lite.columns_file import read_corpus
from uanet_tf.evaluation.ranking import SCORES
from uanet_tf.models.loading import load_model
from uanet_tf.tagging.streams import tag_in_context

PARTS = ("dev", "test")
BEST = "share of wrong tokens (what can be had)"


def found_percent(
    wrong: np.ndarray, lengths: np.ndarray, scores: np.ndarray, share: float
) -> float:
    """Percent of wrong tokens in the first sentences that hold a share of all tokens.

    Args:
      wrong: [S] wrong tokens of each sentence.
      lengths: [S] tokens of each.
      scores: [S], the highest are taken first; of the last sentence a part counts.
      share: of all tokens, in (0, 1).
    """
    order = np.argsort(-scores, kind="stable")
    before = np.cumsum(lengths[order]) - lengths[order]
    left = np.clip((share * lengths.sum() - before) / lengths[order], 0.0, 1.0)
    return float(100 * (wrong[order] * left).sum() / wrong.sum())


def measure(run_dir: str, part: str, share: float) -> dict[str, float]:
    """The figure of each score, on a file of a run."""
    model: Any = load_model(run_dir)
    data = model.settings.data
    sentences = read_corpus(
        getattr(data, f"{part}_path"),
        token_column=data.token_column,
        label_column=data.label_column,
    )
    model.return_mutual_information = True
    tagged = [answer for _, answer in tag_in_context(model, sentences)]
    pairs = zip(tagged, sentences, strict=True)
    wrong = np.array([sum(map(str.__ne__, answer.labels, given.labels)) for answer, given in pairs])
    lengths = np.array([len(answer) for answer in tagged])
    scores = {BEST: wrong / lengths}
    for name, score in SCORES.items():
        scores[name] = np.array([score(answer) for answer in tagged])
    return {name: found_percent(wrong, lengths, each, share) for name, each in scores.items()}


def main(
    run_dirs: Sequence[str], share: float = 0.1, write: Callable[[str], Any] = sys.stdout.write
) -> None:
    """Measures runs and writes the table."""
    found = {part: [measure(run_dir, part, share) for run_dir in run_dirs] for part in PARTS}
    write(f"| --by | {' | '.join(PARTS)} |\n| --- |{' --- |' * len(PARTS)}\n")
    for name in [*SCORES, BEST]:
        cells = []
        for part in PARTS:
            values = [run[name] for run in found[part]]
            sd = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.1f}{sd}")
        write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    parser = make_parser("rank", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    parser.add_argument("--share", type=float, default=0.1)
    options = parser.parse_args()
    main(options.run_dirs, options.share)
