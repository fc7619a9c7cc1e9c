"""A GPU and the processor beside it: training, tagging, memory, and whether they agree.

python -m benchmarks.gpu
python -m benchmarks.gpu --run_dir=runs/uanet --crf_run_dir=runs/crf --path=test.conll
python -m benchmarks.gpu --released=UANet --released_python=torch/bin/python

Each device works in a process of its own, one after the other. Training is of random weights and
generated sentences. Tagging is too, unless trained runs and a file are given: how often labels are
refined depends on them. Without a GPU the table of the processor is printed, and a line that says
so. --released is a copy of the code of Gui et al. (github.com/jiacheng-ye/UANet), which a Python
with PyTorch runs on the same sentences, without vectors.
"""

import argparse
import functools
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.new_process import in_new_process

GPU, PROCESSOR = "GPU", "processor"
TYPES, LENGTH = 4, 15
# Name, recipe, batch size.
TRAININGS = (
    ("paper's sizes", "uanet", 10),
    ("fast", "uanet_fast", 16),
    ("fast", "uanet_fast", 128),
)
# Name, the argument with a run, the recipe without one, options.
ONE_PASS = {"sampling": "distilled", "num_samples": 8}
EXACT = {"sampling": "exact", "num_samples": 8}
TAGGINGS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("one pass", "run_dir", "uanet_fast", ONE_PASS),
    ("exact, M = 8", "run_dir", "uanet_fast", EXACT),
    ("BiLSTM-CRF", "crf_run_dir", "bilstm", {}),
)
# Batches of the exact answers, beside those that suit the device; and of the released code.
BATCHES = 10, 100
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


class _Device:
    """Measures on the device that this process sees."""

    def __init__(self, given: argparse.Namespace, kind: str):
        from uanet_tf.ops.devices import has_gpu, share_gpus

        self.given, self.kind, self.on_gpu = given, kind, kind == GPU
        self.found = Measured("", {}, {}, {})
        self.is_there = has_gpu() or not self.on_gpu
        share_gpus()

    def run(self, what: str, count: int, work: Callable[[], object]) -> None:
        import tensorflow as tf

        from benchmarks.measure import timed

        if self.on_gpu:
            tf.config.experimental.reset_memory_stats("GPU:0")
        self.found.rates[what] = timed(work, repeats=self.given.repeats).rate(count)
        if self.on_gpu:
            peak = tf.config.experimental.get_memory_info("GPU:0")["peak"]
            self.found.peaks[what] = peak / MIB
        sys.stderr.write(f"{self.kind}, {what}: {self.found.rates[what]}\n")


def training(given: argparse.Namespace, kind: str) -> Measured:
    """Trains, of each system, an epoch several times."""
    from benchmarks.systems import recipe, sentences_like, tagger_for
    from benchmarks.training import epoch

    device = _Device(given, kind)
    if device.is_there:
        sentences = sentences_like(TYPES, LENGTH, given.count)
        for name, recipe_name, batch in TRAININGS:
            tagger = tagger_for(recipe(recipe_name).replace(batch_size=batch), sentences)
            work = epoch(tagger, sentences)
            device.run(f"training, {name}, batch {batch}", len(sentences), work)
    return device.found


def tagging(given: argparse.Namespace, kind: str) -> Measured:
    """Tags, with each system, in full float32."""
    from benchmarks.measure import device_name
    from benchmarks.systems import sentences_like
    from uanet_tf.ops.devices import tensor_float_32
    from uanet_tf.tagging.parallel_batches import run_each_on_one_thread
    from uanet_tf.tagging.streams import tag

    run_each_on_one_thread()  # as `uanet tag` does
    device = _Device(given, kind)
    if not device.is_there:
        return device.found
    sentences = sentences_like(TYPES, LENGTH, given.count)
    tokens = _texts(given.path) if given.path else [list(each.tokens) for each in sentences]
    tokens = (tokens * (1 + given.tagged // len(tokens)))[: given.tagged]
    with tensor_float_32(False):
        for name, argument, recipe_name, options in TAGGINGS:
            tagger = _tagger(getattr(given, argument), recipe_name, sentences, options)
            work = functools.partial(tag, tagger, tokens)
            device.run(f"tagging, {name}", len(tokens), work)
            for size in BATCHES if options is EXACT else ():
                in_batches = functools.partial(work, batch_size=size)
                device.run(f"tagging, {name}, batch {size}", len(tokens), in_batches)
            some: list[Any] = list(tag(tagger, tokens[: given.compared]))
            answers = ([one.labels for one in some], [one.uncertainty for one in some])
            device.found.answers[name] = answers
    return device.found._replace(device=device_name())


def measure(given: argparse.Namespace, kind: str) -> Measured:
    """What a device does, each half in a process of its own."""
    hidden = {} if kind == GPU else {"CUDA_VISIBLE_DEVICES": "-1"}
    halves = [in_new_process(half, given, kind, environment=hidden) for half in (training, tagging)]
    rates, peaks, answers = (
        {**getattr(halves[0], name), **getattr(halves[1], name)}
        for name in ("rates", "peaks", "answers")
    )
    return Measured(halves[1].device, rates, peaks, answers)


# What the released code prints of an epoch, and of a file that it tagged.
SPEED = re.compile(r"^(Epoch|dev): .*speed: ([0-9.]+) doc/s", re.MULTILINE)


def released(given: argparse.Namespace) -> str:
    """The table of the released code: an epoch to warm up, then as many as are timed."""
    from benchmarks.systems import sentences_like

    lines = ["| released code, sentences/s | training | tagging |", "| --- | --- | --- |"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sentences.txt"
        sentences = sentences_like(TYPES, LENGTH, given.count)
        rows = ("".join(map("{} {}\n".format, s.tokens, s.labels)) for s in sentences)
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        files = [f"--{name}_dir={path}" for name in ("train", "dev", "test")]
        for size in BATCHES:
            command = [given.released_python, "main.py", *files, f"--model_dir={folder}/run"]
            settings = [f"--iteration={1 + given.repeats}", f"--batch_size={size}"]
            done = subprocess.run(
                [*command, *settings, "--save_model=False"],
                cwd=given.released,
                env=os.environ | {"PYTHONIOENCODING": "utf-8"},
                stdout=subprocess.PIPE,
                encoding="utf-8",
                check=True,
            )
            speeds: dict[str, list[float]] = {"Epoch": [], "dev": []}
            for name, speed in SPEED.findall(done.stdout):
                speeds[name].append(float(speed))
            medians = [f"{statistics.median(each[1:]):,.0f}" for each in speeds.values()]
            lines.append(f"| batch {size} | {' | '.join(medians)} |")
    return "\n".join(lines) + "\n"


def _texts(path: str) -> list[list[str]]:
    import uanet_tf

    return [list(sentence.tokens) for sentence in uanet_tf.read(path)]


def _tagger(run_dir: str | None, recipe_name: str, sentences: Any, options: dict[str, Any]) -> Any:
    from benchmarks.systems import recipe, tagger_for
    from uanet_tf.models.loading import load_model

    if run_dir:
        return load_model(run_dir, **options)
    tagger = tagger_for(recipe(recipe_name), sentences)
    # A head that nobody has trained does not tag: one pass is then one without dropout.
    passes = 0 if options is ONE_PASS else options.get("num_samples", 0)
    tagger.set_options(sampling="exact", num_samples=passes)
    return tagger


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
    parser.add_argument("--count", type=int, default=1_000, help="sentences in a pass of training")
    parser.add_argument("--tagged", type=int, default=10_000, help="sentences that are tagged")
    parser.add_argument("--run_dir", help="a trained UANet, with a head for one pass")
    parser.add_argument("--crf_run_dir", help="a trained BiLSTM-CRF")
    parser.add_argument("--path", help="a labelled file: its sentences are tagged")
    parser.add_argument("--repeats", type=int, default=3, help="timed passes")
    parser.add_argument("--compared", type=int, default=500, help="sentences whose answers agree")
    parser.add_argument("--released", help="a folder with the code of Gui et al.")
    parser.add_argument("--released_python", default="python3", help="a Python with PyTorch")
    given = parser.parse_args()
    gpu, processor = measure(given, GPU), measure(given, PROCESSOR)
    sys.stdout.write(report(gpu, processor))
    if given.released:
        sys.stdout.write("\n" + released(given))


if __name__ == "__main__":
    main()
