"""Where one pass of a trained UANet spends its time, and how many queries its refiner computes.

    python -m benchmarks.parts --run_dir=RUN --data=FILE [--repeats=4]

The pass is the one without dropout; the head of distilled sampling adds little to it. Sentences are
sorted by length, 90 to a batch. Each row is a graph that ends at that part, rows are timed in turn.
"""

import os
import sys
from collections.abc import Callable

from benchmarks.command_line import make_parser

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


BATCH = 90


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
    from uanet_tf.data.conll import read_corpus
    from uanet_tf.exporting.sample_inputs import pad
    from uanet_tf.ops.graph_function import graph_function

    model = uanet_tf.load_model(run_dir, num_samples=0, refine_all=False)
    words = sorted((list(sentence.tokens) for sentence in read_corpus(data)), key=len)
    batches = [pad(words[k : k + BATCH]) for k in range(0, len(words), BATCH)]
    inputs = [{name: tf.constant(values) for name, values in each.items()} for each in batches]

    def refined_all(features):
        return model.refine(features, model.draft(features))

    parts: dict[str, Callable] = {
        "looking words up": lambda features: features["form_index"],
        "word representation": model.drafter.representation,
        "draft": lambda features: model.draft(features).uncertainty,
        "draft and refiner, queries of tokens above Gamma": lambda f: model.decide(f).label_ids,
        "draft and refiner, queries of all tokens": refined_all,
    }

    def runner(part: Callable) -> Callable[[], None]:
        def sums(tokens, lengths):
            features = model.features({"tokens": tokens, "lengths": lengths})
            return tf.reduce_sum(tf.cast(part(features), tf.float32))

        specs = [tf.TensorSpec([None, None], tf.string), tf.TensorSpec([None], tf.int32)]
        function = graph_function(specs)(sums).get_concrete_function()

        def run() -> None:
            for batch in inputs:
                function(**batch).numpy()

        return run

    peak = matmul_rate()
    times = interleaved({name: runner(part) for name, part in parts.items()}, repeats=repeats)
    wanted = padded = refined = 0
    for batch in inputs:
        draft = model.draft(model.features(batch))
        counts = (model.gate.passes(draft.uncertainty) & draft.mask).numpy().sum(axis=1)
        wanted += int(counts.sum())
        refined += int((counts > 0).sum())
        padded += int((counts > 0).sum() * counts.max())
    lines = [f"| up to, {len(words):,} sentences | ms |", "| --- | --- |"]
    lines += [
        f"| {name} | {1000 * timing.median:.0f} ({1000 * timing.fastest:.0f} to "
        f"{1000 * timing.slowest:.0f}) |"
        for name, timing in times.items()
    ]
    tail = (
        f"{wanted:,} tokens of {refined:,} sentences are above Gamma; with padding {padded:,} "
        "queries are computed. Large "
        f"matrix product {peak / 1e9:.0f} GFLOP/s before, {matmul_rate() / 1e9:.0f} after."
    )
    return "\n".join([*lines, "", tail])


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
