"""A GPU and the processor beside it: training, tagging, memory, and whether they agree.

python -m benchmarks.gpu

Weights are random and sentences generated. Each device works in a process of its own. Without a GPU
the table of the processor is printed, and a line that says so.
"""

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.new_process import in_new_process

GPU, PROCESSOR = "GPU", "processor"
TYPES, LENGTH = 4, 15
# Name, recipe, batch size.
TRAININGS = (
    ("paper's sizes", "uanet", 10),
    ("paper's sizes", "uanet", 100),
    ("fast", "uanet_fast", 16),
    ("fast", "uanet_fast", 128),
)
# Name, recipe, samples M; 0: one pass without dropout.
TAGGINGS = (
    ("one pass", "uanet_fast", 0),
    ("exact, M = 8", "uanet_fast", 8),
    ("BiLSTM-CRF", "bilstm", 0),
)
MIB = 2**20


class Measured(NamedTuple):
    """What a device did.

    Attributes:
      device: its name; "" where TensorFlow finds no GPU.
      rates: {what: sentences per second, with their range}.
      peaks: {what: most memory of the GPU, MiB}.
      answers: {what: (labels, uncertainties)} of the first sentences.
    """

    device: str
    rates: dict[str, str]
    peaks: dict[str, float]
    answers: dict[str, tuple[list[list[str]], list[list[float]]]]


def measure(given: argparse.Namespace, kind: str) -> Measured:
    """Runs everything on the devices that this process sees."""
    import tensorflow as tf

    from benchmarks.measure import device_name, timed
    from benchmarks.systems import recipe, sentences_like, tagger_for
    from benchmarks.training import epoch
    from uanet_tf.ops.devices import share_gpus, tensor_float_32
    from uanet_tf.tagging.streams import tag

    gpus = tf.config.list_physical_devices("GPU")
    if kind == GPU and not gpus:
        return Measured("", {}, {}, {})
    share_gpus()
    sentences = sentences_like(TYPES, LENGTH, given.count)
    rates, peaks, answers = {}, {}, {}

    def run(what: str, work: Any) -> None:
        if gpus:
            tf.config.experimental.reset_memory_stats("GPU:0")
        rates[what] = timed(work, repeats=given.repeats).rate(len(sentences))
        if gpus:
            peaks[what] = tf.config.experimental.get_memory_info("GPU:0")["peak"] / MIB

    for name, recipe_name, batch in TRAININGS:
        tagger = tagger_for(recipe(recipe_name).replace(batch_size=batch), sentences)
        run(f"training, {name}, batch {batch}", epoch(tagger, sentences))
    tokens = [list(sentence.tokens) for sentence in sentences]
    with tensor_float_32(False):
        for name, recipe_name, samples in TAGGINGS:
            tagger = tagger_for(recipe(recipe_name), sentences)
            tagger.num_samples = samples
            if tagger.gate is not None:
                tagger.refine_all = False
            run(f"tagging, {name}", lambda tagger=tagger: tag(tagger, tokens))
            found: list[Any] = list(tag(tagger, tokens[: given.compared]))
            answers[name] = ([one.labels for one in found], [one.uncertainty for one in found])
    return Measured(device_name(), rates, peaks, answers)


def report(gpu: Measured, processor: Measured) -> str:
    """The tables of both devices, in Markdown."""
    lines = [f"Processor: {processor.device}. GPU: {gpu.device or 'none found'}.", ""]
    lines += ["| sentences/s | GPU | processor | GPU's memory, MiB |", "| --- | --- | --- | --- |"]
    for what, rate in processor.rates.items():
        peak = f"{gpu.peaks[what]:,.0f}" if what in gpu.peaks else "-"
        lines.append(f"| {what} | {gpu.rates.get(what, '-')} | {rate} | {peak} |")
    if gpu.device:
        lines += ["", "| tagging | equal labels | largest difference of uncertainty, nats |"]
        lines.append("| --- | --- | --- |")
        for name, (labels, values) in processor.answers.items():
            other_labels, other_values = gpu.answers[name]
            equal = np.equal(np.concatenate(labels), np.concatenate(other_labels)).mean()
            worst = np.abs(np.concatenate(values) - np.concatenate(other_values)).max()
            lines.append(f"| {name} | {100 * equal:.2f} % | {worst:.1e} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Prints the tables."""
    parser = make_parser("gpu", __doc__)
    parser.add_argument("--count", type=int, default=2_000, help="sentences in a pass")
    parser.add_argument("--repeats", type=int, default=3, help="timed passes")
    parser.add_argument("--compared", type=int, default=500, help="sentences whose answers agree")
    given = parser.parse_args()
    gpu = in_new_process(measure, given, GPU)
    hidden = {"CUDA_VISIBLE_DEVICES": "-1"}
    processor = in_new_process(measure, given, PROCESSOR, environment=hidden)
    sys.stdout.write(report(gpu, processor))


if __name__ == "__main__":
    main()
