"""Where one pass of a trained UANet spends its time, and how many queries its refiner computes.

    python -m benchmarks.parts --run_dir=RUN --data=FILE [--repeats=4]

The pass is the one without dropout; the head of distilled sampling adds little to it. Sentences are
sorted by length, 180 to a batch. Each row is a graph that ends at that part, all timed in turn.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser

BATCH = 180


class Queries(NamedTuple):
    """What the refiner has to do.

    Attributes:
      tokens: those above Gamma.
      padded: queries that are computed, with padding.
      sentences: how many have a token above Gamma.
    """

    tokens: int
    padded: int
    sentences: int


def table(run_dir: str, data: str, *, repeats: int = 4) -> str:
    """Milliseconds for the whole file up to each part, as Markdown.

    Args:
      run_dir: a trained run with a refiner.
      data: CoNLL file.
      repeats: timed rounds over all rows.
    """
    import tensorflow as tf

    import uanet_tf
    from benchmarks.measure import interleaved, matmul_rate
    from uanet_lite.columns_file import read_corpus

    model = uanet_tf.load_model(run_dir, num_samples=0)
    words = sorted((list(sentence.tokens) for sentence in read_corpus(data)), key=len)
    parts: dict[str, Callable] = {
        "looking words up": lambda features: features["form_index"],
        "word representation": model.drafter.representation,
        "draft": lambda features: model.draft(features).uncertainty,
        "draft and final labels, gate shut": lambda features: (
            model.decide(features, tf.constant(1e9)).label_ids
        ),
        "draft and refiner, queries of tokens above Gamma": lambda features: (
            model.decide(features).label_ids
        ),
        "draft and refiner, queries of all tokens": lambda features: model.refine(
            features, model.draft(features)
        ),
    }

    inputs = [
        {name: tf.constant(values) for name, values in batch.items()} for batch in batched(words)
    ]
    queries = count_queries(model, words)
    peak = matmul_rate()
    runners = {name: runner(model, part, inputs) for name, part in parts.items()}
    lines = [f"| up to, {len(words):,} sentences | ms |", "| --- | --- |"]
    lines += [
        f"| {name} | {1000 * timing.median:.0f} ({1000 * timing.fastest:.0f} to "
        f"{1000 * timing.slowest:.0f}) |"
        for name, timing in interleaved(runners, repeats=repeats).items()
    ]
    tail = (
        f"{queries.tokens:,} tokens of {queries.sentences:,} sentences are above Gamma; with "
        f"padding {queries.padded:,} queries are computed. Large "
        f"matrix product {peak / 1e9:.0f} GFLOP/s before, {matmul_rate() / 1e9:.0f} after."
    )
    return "\n".join([*lines, "", tail])


def batched(sentences: Sequence[list[str]]) -> list[dict[str, Any]]:
    """Padded batches of ``BATCH`` sentences."""
    from uanet_tf.exporting.sample_inputs import pad

    return [pad(sentences[k : k + BATCH]) for k in range(0, len(sentences), BATCH)]


def count_queries(model: Any, sentences: Sequence[list[str]]) -> Queries:
    """What the refiner has to do for sentences, in batches."""
    import tensorflow as tf

    from uanet_tf.layers.relative_attention import rows_with_queries

    tokens = padded = asking = 0
    for batch in batched(sentences):
        draft = model.draft(model.features(batch))
        rows, queries = rows_with_queries(model.gate.passes(draft.uncertainty) & draft.mask)
        counts = tf.math.count_nonzero(queries, axis=1).numpy()
        tokens += int(counts.sum())
        padded += int(len(counts) * counts.max(initial=0))
        asking += len(np.unique(rows))
    return Queries(tokens, padded, asking)


def runner(model: Any, part: Callable, batches: Sequence[dict[str, Any]]) -> Callable[[], None]:
    """Calls a graph that ends at a part, for each batch."""
    import tensorflow as tf

    from uanet_tf.ops.graphs import graph_function

    def sums(tokens, lengths):
        features = model.features({"tokens": tokens, "lengths": lengths})
        return tf.reduce_sum(tf.cast(part(features), tf.float32))

    specs = [tf.TensorSpec([None, None], tf.string), tf.TensorSpec([None], tf.int32)]
    function = graph_function(specs)(sums).get_concrete_function()

    def run() -> None:
        for batch in batches:
            function(**batch).numpy()

    return run


def main() -> None:
    """Prints the table."""
    parser = make_parser("parts", __doc__)
    parser.add_argument("--run_dir", required=True)
    parser.add_argument("--data", required=True, metavar="FILE")
    parser.add_argument("--repeats", type=int, default=4)
    given = parser.parse_args()
    sys.stdout.write(table(given.run_dir, given.data, repeats=given.repeats) + "\n")


if __name__ == "__main__":
    main()
