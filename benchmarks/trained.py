"""Tagging speed and scores of trained runs on a file: naive, exact and distilled sampling.

    python -m benchmarks.trained --data=FILE --run_dir=RUN [--baseline=CRF_RUN]... [--repeats=5]

Naive is the model without its optimizations, see ``benchmarks.naive``; "in batches of ten" is the
exact tagger with everything refined, in the order of the file, ten sentences at a time. Times are
those of `uanet_tf.tag` on sentences in memory, with the threads of `uanet tag`; repeats of all rows
are taken in turn, so that ratios compare runs under the same load.
"""

import dataclasses
import functools
import gc
import statistics
import sys
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.command_line import make_parser

BASELINE = "baseline: "


@dataclasses.dataclass
class Row:
    """One way to tag: the function, and its results."""

    name: str
    tag: Callable[[], list]
    seconds: list[float] = dataclasses.field(default_factory=list)
    tagged: list = dataclasses.field(default_factory=list)


def table(run_dir: str, data: str, *, baselines: Sequence[str] = (), repeats: int = 5) -> str:
    """Sentences per second, agreement with exact sampling, and scores, as a Markdown table.

    Args:
      run_dir: a trained run.
      data: labelled CoNLL file.
      baselines: other runs to compare with, of different decoders.
      repeats: timed rounds over all rows.
    """
    import uanet_tf
    from benchmarks.measure import matmul_rate, timed
    from uanet_lite.columns_file import read_corpus
    from uanet_tf.tagging.parallel_batches import run_each_on_one_thread

    run_each_on_one_thread()
    sentences = read_corpus(data)
    tokens = [sentence.tokens for sentence in sentences]
    rows = _rows(run_dir, tokens)
    for baseline in baselines:
        model = uanet_tf.load_model(baseline)
        name = f"{BASELINE}{model.settings.decoder.decoder}"
        rows.append(Row(name, functools.partial(uanet_tf.tag, model, tokens)))
    peak = matmul_rate()
    for row in rows:
        row.tagged = row.tag()  # warm-up: graphs are made
    gc.freeze()  # so that no round has to look through what is kept of all
    for _ in range(repeats):
        for row in rows:
            row.seconds.append(timed(row.tag, repeats=1, warm_up=0).median)
    header = (
        f"{len(tokens):,} sentences, {sum(map(len, tokens)) / len(tokens):.1f} tokens each; large "
        f"matrix product {peak / 1e9:.0f} GFLOP/s before, {matmul_rate() / 1e9:.0f} after.\n\n"
    )
    return header + "\n".join(_lines(rows, sentences))


def _rows(run_dir: str, tokens: Sequence[Sequence[str]]) -> list[Row]:
    """The ways to apply one run; each has a model of its own, so that graphs stay."""
    import uanet_tf
    from benchmarks import naive

    def model(sampling: str = "exact", refine_all: bool = False, num_samples: int | None = None):
        loaded = uanet_tf.load_model(run_dir)
        loaded.sampling = sampling
        if loaded.gate is not None:
            loaded.refine_all = refine_all
        if num_samples is not None:
            loaded.num_samples = num_samples
        return loaded

    simple, in_tens, exact = naive.made_naive(model()), model(refine_all=True), model()
    rows = [
        Row("naive", lambda: naive.tag(simple, tokens)),
        Row("in batches of ten", lambda: naive.tag(in_tens, tokens)),
        Row("exact", lambda: uanet_tf.tag(exact, tokens)),
    ]
    one = model(num_samples=1)
    rows.append(Row("exact, M = 1", lambda: uanet_tf.tag(one, tokens)))
    head = exact.drafter.distilled
    if head is not None and head.was_trained.numpy():
        distilled = model("distilled")
        rows.append(Row("distilled", lambda: uanet_tf.tag(distilled, tokens)))
    return rows


def _lines(rows: Sequence[Row], sentences: Sequence) -> list[str]:
    labels = {row.name: _flat(row) for row in rows}
    compared = ["naive", "exact", *(row.name for row in rows if row.name.startswith(BASELINE))]
    others = {row.name: row.seconds for row in rows if row.name in compared}
    head = ["tagging", "sentences/s", *(f"times {name}" for name in others)]
    head += ["labels as exact", "score", "refined tokens"]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    for row in rows:
        ratios = [
            statistics.median(a / b for a, b in zip(seconds, row.seconds, strict=True))
            for seconds in others.values()
        ]
        rate = len(sentences) / statistics.median(row.seconds)
        spread = (len(sentences) / max(row.seconds), len(sentences) / min(row.seconds))
        agreement = float(np.mean(labels[row.name] == labels["exact"]))
        refined = float(np.mean([flag for tagged in row.tagged for flag in tagged.refined]))
        lines.append(
            f"| {row.name} | {rate:,.0f} ({spread[0]:,.0f} to {spread[1]:,.0f}) "
            f"| {' | '.join(f'{ratio:.2f}' for ratio in ratios)} | {100 * agreement:.2f} % "
            f"| {_score(sentences, row.tagged):.2f} | {100 * refined:.1f} % |"
        )
    return lines


def _flat(row: Row) -> np.ndarray:
    return np.array([label for tagged in row.tagged for label in tagged.labels])


def _score(sentences: Sequence, tagged: Sequence) -> float:
    """F1 of entities, or accuracy where labels are no chunks."""
    from uanet_tf.metrics.scoring import score

    task = "pos" if tagged[0].scheme is None else "ner"
    scores = score(
        [sentence.labels for sentence in sentences],
        [sentence.draft_labels for sentence in tagged],
        [sentence.refined_labels for sentence in tagged],
        [sentence.labels for sentence in tagged],
        [sentence.uncertainty for sentence in tagged],
        task=task,
        threshold=0.0,
    )
    return float(scores["f1" if task == "ner" else "accuracy"] or 0.0)


def main() -> None:
    """Prints the table."""
    parser = make_parser("trained", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--baseline", action="append", default=[], metavar="RUN")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    sys.stdout.write(
        table(
            arguments.run_dir,
            arguments.data,
            baselines=arguments.baseline,
            repeats=arguments.repeats,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
