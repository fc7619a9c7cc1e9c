"""Processor time of each kind of operation in a stage: where the time goes, and what could go.

    python -m benchmarks.operations --stage=draft     (or refine)

The batch is that of ``benchmarks.stages``. Operations run beside one another, so that their times
add up to more than the clock's.
"""

import argparse
import collections
import os
import statistics
import sys
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from benchmarks.stages import batch_for
from benchmarks.systems import recipe
from uanet_tf.config import Config
from uanet_tf.ops.graph_function import graph_function
from uanet_tf.ops.masking import sequence_mask

STAGES = ("draft", "refine")


def table(config: Config, stage: str, *, rows: int = 10, repeats: int = 10) -> str:
    """The costliest kinds of operations of a stage, as a Markdown table.

    Args:
      config: sizes of the layers; the decoder must be UANet.
      stage: "draft", all M samples, or "refine", of all tokens.
      rows: kinds of operations to name; the rest are added up.
      repeats: timed runs of the whole stage, before the one that is recorded.
    """
    tagger, batch = batch_for(config)
    features = tagger.features(batch)
    mask = sequence_mask(features["lengths"], tf.shape(features["form_index"])[1])
    if stage == "draft":
        inputs: tuple[Any, ...] = (features,)
        run = graph_function(_specs(inputs))(lambda features: tagger.draft(features)["uncertainty"])
    else:
        inputs = (features, tagger.draft(features)["probabilities"], mask)
        run = graph_function(_specs(inputs))(tagger.refine)
    seconds, spent, counts = _recorded(run, inputs, repeats)
    total = sum(spent.values())
    lines = [
        f"{stage}: {1e3 * seconds:.1f} ms by the clock, {total / 1e3:.1f} ms of operations.",
        "",
        "| operation | milliseconds | times |",
        "| --- | --- | --- |",
    ]
    shown = spent.most_common(rows)
    for name, spent_here in shown:
        lines.append(f"| {name} | {spent_here / 1e3:.1f} | {counts[name]} |")
    others = total - sum(micros for _, micros in shown)
    rest = sum(counts.values()) - sum(counts[name] for name, _ in shown)
    lines.append(f"| all others | {others / 1e3:.1f} | {rest} |")
    return "\n".join(lines)


def _specs(inputs: tuple[Any, ...]) -> list[Any]:
    """Signatures of any size: a graph of one size would be folded into constants."""
    return tf.nest.map_structure(
        lambda value: tf.TensorSpec([None] * value.shape.rank, value.dtype), list(inputs)
    )


def _recorded(
    run: Any, inputs: tuple[Any, ...], repeats: int
) -> tuple[float, collections.Counter[str], collections.Counter[str]]:
    """Median seconds, and microseconds and number of runs of each kind of operation."""
    frozen = convert_variables_to_constants_v2(run.get_concrete_function(), lower_control_flow=True)
    values = [value.numpy() for value in tf.nest.flatten(list(inputs))]
    feed = {tensor.name: value for tensor, value in zip(frozen.inputs, values, strict=True)}
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(frozen.graph.as_graph_def(), name="")
    fetch, seconds = frozen.outputs[0].name, []
    # Of TensorFlow's ways to time single operations a session's is the one that needs no viewer.
    options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
    record = tf.compat.v1.RunMetadata()
    with tf.compat.v1.Session(graph=graph) as session:
        for _ in range(repeats + 2):
            start = time.perf_counter()
            session.run(fetch, feed)
            seconds.append(time.perf_counter() - start)
        session.run(fetch, feed, options=options, run_metadata=record)
    spent: collections.Counter[str] = collections.Counter()
    counts: collections.Counter[str] = collections.Counter()
    for device in record.step_stats.dev_stats:
        for node in device.node_stats:
            kind = node.timeline_label.partition(" = ")[2].partition("(")[0]
            if kind:
                spent[kind] += node.op_end_rel_micros
                counts[kind] += 1
    return statistics.median(seconds[2:]), spent, counts


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.operations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--stage", choices=STAGES, default="draft")
    parser.add_argument("--recipe", default="uanet_fast", help="a name in configs/")
    given = parser.parse_args()
    sys.stdout.write(table(recipe(given.recipe), given.stage) + "\n")


if __name__ == "__main__":
    main()
