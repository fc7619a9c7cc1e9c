"""What bounds the gain of refining: the tokens above Gamma, oracles and two drafters together.

    python -m benchmarks.bounds --data=FILE [--threshold=0.35] RUN RUN ...

FILE is labelled; the runs are of one system with a refiner, trained with different seeds. Prints,
in Markdown, mean and standard deviation over the runs: how many labels are right above Gamma, in
the draft and when refined, and the score (F1 of entities, or accuracy) of

- the draft and the gated labels;
- the better of the two: above Gamma the refined label where it is right, else the draft's;
- all right above Gamma: what a perfect refiner would reach;
- the mean of both: above Gamma the mean of draft and refined distribution;
- two drafters: the mean distribution of a run's draft and the next run's, which costs as much as
  drafting twice.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from benchmarks.command_line import make_parser
from uanet_lite import tag_schemes
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.metrics.scoring import score_systems
from uanet_tf.models.labels import ValidLabels
from uanet_tf.models.loading import load_model
from uanet_tf.ops.graphs import graph_function
from uanet_tf.tagging.streams import tag_in_context

SHUT = 1e6  # nats; no uncertainty is above
ROWS = (
    "tokens above Gamma, %",
    "draft right above Gamma, %",
    "refined right above Gamma, %",
    "either right above Gamma, %",
    "draft",
    "gated",
    "better of the two",
    "all right above Gamma",
    "mean of both",
    "two drafters",
)
Labels = list[list[str]]


class Tagged(NamedTuple):
    """A file tagged by one run; a sequence for each sentence.

    Attributes:
      draft, refined, gated: labels.
      uncertainty: nats.
      probabilities: [T, C] of the draft.
      open_probabilities: [T, C], refined where the draft is above Gamma.
    """

    draft: Labels
    refined: Labels
    gated: Labels
    uncertainty: list[np.ndarray]
    probabilities: list[np.ndarray]
    open_probabilities: list[np.ndarray]


def tag(model: Any, sentences: Sequence[Sentence], threshold: float) -> Tagged:
    """Tags with the gate shut, which gives drafts and refined labels, and with it at Gamma."""
    model.set_options(threshold=SHUT, refine_all=True, return_probabilities=True)
    shut = [answer for _, answer in tag_in_context(model, sentences)]
    model.threshold = threshold
    gated = [answer for _, answer in tag_in_context(model, sentences)]
    return Tagged(
        [answer.draft_labels for answer in shut],
        [answer.refined_labels for answer in shut],
        [answer.labels for answer in gated],
        [np.asarray(answer.uncertainty, np.float32) for answer in shut],
        *([np.asarray(answer.probabilities) for answer in answers] for answers in (shut, gated)),
    )


def bounds(gold: Labels, tagged: Tagged, threshold: float, *, task: str) -> dict[str, float]:
    """The rows of one run, but those of mean distributions.

    Args:
      gold: labels of the file, in the scheme of the answers.
      tagged: the answers.
      threshold: Gamma, nats.
      task: "ner" or "pos".
    """
    better, right, counts = [], [], np.zeros(4)
    columns = zip(gold, tagged.draft, tagged.refined, tagged.uncertainty, strict=True)
    for truth, draft, refined, nats in columns:
        opens = nats > np.float32(threshold)
        is_right = [np.array(truth) == np.array(labels) for labels in (draft, refined)]
        counts += [(opens & each).sum() for each in (True, *is_right, is_right[0] | is_right[1])]
        takes = opens & is_right[1]
        better.append(np.where(takes, refined, draft).tolist())
        right.append(np.where(opens, truth, draft).tolist())
    systems = {"draft": tagged.draft, "gated": tagged.gated, "better": better, "right": right}
    scores = score_systems(gold, task=task, **systems)
    name = "f1" if task == "ner" else "accuracy"
    shares = [counts[0] / sum(map(len, gold)), *(counts[1:] / max(counts[0], 1))]
    values = [*(100 * share for share in shares), *(scores[each][name] for each in systems)]
    return dict(zip(ROWS, values, strict=False))


def mean_labels(
    one: Sequence[np.ndarray],
    other: Sequence[np.ndarray],
    names: Sequence[str],
    scheme: str | None,
) -> Labels:
    """The valid labels of the mean of two distributions.

    Args:
      one, other: [T, C] for each sentence.
      names: the classes.
      scheme: their tag scheme; None: no chunks.
    """
    valid_labels = ValidLabels(names, scheme)

    @graph_function([tf.TensorSpec([1, None, len(names)])])
    def search(p):
        ids = tf.argmax(p, axis=-1, output_type=tf.int32)
        return valid_labels([ids], [p], tf.ones_like(ids, tf.bool))[0][0]

    means = map(np.add, one, other)
    return [
        [names[k] for k in search(tf.constant(p[np.newaxis] / 2, tf.float32)).numpy()]
        for p in means
    ]


def measure(run_dirs: Sequence[str], path: str, threshold: float) -> list[dict[str, float]]:
    """The rows of each run."""
    models: list[Any] = [load_model(run_dir) for run_dir in run_dirs]
    first = models[0]
    data, task = first.settings.data, "ner" if first.label_scheme else "pos"
    sentences = read_corpus(path, token_column=data.token_column, label_column=data.label_column)
    gold = [list(sentence.labels) for sentence in sentences]
    if task == "ner":  # as the answers are written, so that tokens can be compared
        spans = [tag_schemes.decode_spans(row, tag_schemes.BIOES) for row in gold]
        pairs = zip(spans, gold, strict=True)
        gold = [
            list(tag_schemes.encode_spans(found, len(row), first.label_scheme))
            for found, row in pairs
        ]
    answers = [tag(model, sentences, threshold) for model in models]
    found = [bounds(gold, each, threshold, task=task) for each in answers]
    scheme = first.vocabulary.internal_scheme if first.label_scheme else None
    name = "f1" if task == "ner" else "accuracy"

    def score(k: int, other: Sequence[np.ndarray]) -> float:
        labels = mean_labels(answers[k].probabilities, other, models[k].class_names, scheme)
        return score_systems(gold, task=task, both=labels)["both"][name]

    for k, row in enumerate(found):
        row["mean of both"] = score(k, answers[k].open_probabilities)
        other = (k + 1) % len(found)
        if other != k and models[k].class_names == models[other].class_names:
            row["two drafters"] = score(k, answers[other].probabilities)
    return found


def write_table(found: Sequence[dict[str, float]], write: Callable[[str], Any]) -> None:
    """Mean and standard deviation over the runs, a row for each figure."""
    write("| | mean ± sd |\n| --- | --- |\n")
    for name in ROWS:
        values = [run[name] for run in found if name in run]
        if values:
            sd = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
            write(f"| {name} | {np.mean(values):.2f}{sd} |\n")


def main(arguments: argparse.Namespace, write: Callable[[str], Any] = sys.stdout.write) -> None:
    """Measures the runs and writes the table."""
    write_table(measure(arguments.run_dirs, arguments.data, arguments.threshold), write)


if __name__ == "__main__":
    parser = make_parser("bounds", __doc__)
    parser.add_argument("run_dirs", nargs="+")
    parser.add_argument("--data", required=True)
    parser.add_argument("--threshold", type=float, default=0.35)
    main(parser.parse_args())
