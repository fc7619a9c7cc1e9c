"""Processor time of each kind of operation in a stage.

    python -m benchmarks.operations --stage=draft     (or refine, or train)

The batch of draft and refine is that of ``benchmarks.stages``; train takes steps on the batches of
``benchmarks.training``. Operations run beside one another, so that their times add up to more than
the clock's.
"""

import collections
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf

# The profiler's own record: its readers of the public API are TensorBoard's, in a browser.
from tensorflow.tsl.profiler.protobuf import xplane_pb2

from benchmarks import training
from benchmarks.command_line import make_parser
from benchmarks.measure import timed
from benchmarks.stages import batch_for
from benchmarks.systems import recipe, sentences_like, tagger_for
from uanet_tf.config import Config
from uanet_tf.models.results import Draft
from uanet_tf.ops.graphs import graph_function

STAGES = ("draft", "refine", "train")


def table(config: Config, stage: str, *, rows: int = 10, repeats: int = 10) -> str:
    """The costliest kinds of operations of a stage, as a Markdown table.

    Args:
      config: sizes of the layers; the decoder must be UANet.
      stage: "draft", all M samples of a batch; "refine", of all its tokens; "train", a step.
      rows: kinds of operations to name; the rest are added up.
      repeats: timed runs of the whole stage, before those that are recorded; for "train" also the
        number of steps in a run.
    """
    run, steps = _stage(config, stage, repeats)
    seconds = timed(run, repeats=repeats, warm_up=2).median
    spent, counts = _recorded(run)
    total = sum(spent.values())
    lines = [
        f"{stage}: {1e3 * seconds / steps:.1f} ms by the clock, "
        f"{1e3 * total / steps:.1f} ms of operations.",
        "",
        "| operation | milliseconds | share | times |",
        "| --- | --- | --- | --- |",
    ]
    shown = spent.most_common(rows)
    for name, time_here in shown:
        lines.append(_row(name, time_here, total, counts[name], steps))
    others = total - sum(time_here for _, time_here in shown)
    rest = sum(counts.values()) - sum(counts[name] for name, _ in shown)
    lines.append(_row("all others", others, total, rest, steps))
    return "\n".join(lines)


def _row(name: str, seconds: float, total: float, count: int, steps: int) -> str:
    share = 100 * seconds / total
    return f"| {name} | {1e3 * seconds / steps:.1f} | {share:.0f} % | {count / steps:.0f} |"


def _stage(config: Config, stage: str, steps: int) -> tuple[Callable[[], object], int]:
    """A function that runs a stage, and how many times it does so."""
    if stage == "train":
        count = steps * config.data.batch_size
        sentences = sentences_like(training.TYPES, training.LENGTH, count)
        return training.epoch(tagger_for(config, sentences), sentences), steps
    tagger, batch = batch_for(config)
    features = tagger.features(batch)
    if stage == "draft":
        run = _compiled(lambda given: tagger.draft(given).uncertainty, (features,))
        return lambda: run(features).numpy(), 1
    # What training and some kinds of sampling add to a draft is None here, and no input of a graph.
    draft = tagger.draft(features)
    given = {name: value for name, value in draft._asdict().items() if value is not None}
    inputs = (features, given)
    refine = _compiled(lambda words, drafted: tagger.refine(words, Draft(**drafted)), inputs)
    return lambda: refine(*inputs).numpy(), 1


def _compiled(run: Callable[..., tf.Tensor], inputs: tuple[Any, ...]) -> Callable[..., tf.Tensor]:
    """A graph for inputs of any size: one of a single size would be folded into constants."""
    specs = tf.nest.map_structure(
        lambda value: tf.TensorSpec([None] * value.shape.rank, value.dtype), list(inputs)
    )
    return graph_function(specs)(run)


def _recorded(
    run: Callable[[], object],
) -> tuple[collections.Counter[str], collections.Counter[str]]:
    """Seconds, and number of runs, of each kind of operation."""
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    space = xplane_pb2.XSpace()
    with tempfile.TemporaryDirectory() as folder:
        with tf.profiler.experimental.Profile(folder, options=options):
            run()
        (path,) = pathlib.Path(folder).rglob("*.xplane.pb")
        space.ParseFromString(path.read_bytes())
    spent: collections.Counter[str] = collections.Counter()
    counts: collections.Counter[str] = collections.Counter()
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                # Operations are called "name:Kind", other events have no colon, or two ("::").
                name, _, kind = plane.event_metadata[event.metadata_id].name.rpartition(":")
                if name and kind.isidentifier() and not name.endswith(":"):
                    spent[kind] += event.duration_ps / 1e12
                    counts[kind] += 1
    return spent, counts


def main() -> None:
    """Prints the table."""
    parser = make_parser("operations", __doc__)
    parser.add_argument("--stage", choices=STAGES, default="draft")
    parser.add_argument("--recipe", default="uanet_fast", help="a name in configs/")
    given = parser.parse_args()
    sys.stdout.write(table(recipe(given.recipe), given.stage) + "\n")


if __name__ == "__main__":
    main()
