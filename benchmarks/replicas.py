"""Two replicas that share each batch against one that has it whole: losses and scores.

    python -m benchmarks.replicas --data=FOLDER [--recipe=uanet_fast] [--sentences=1600]
        [--epochs=10] [--seeds=1,2,3] [--floatx=float64]

FOLDER has train.conll, dev.conll and test.conll. For each seed three runs are trained, each in a
process of its own: on one logical CPU device, on two (--strategy=mirrored), and again on one with
other kernels (TF_ENABLE_ONEDNN_OPTS=0), which shows what rounding alone does to the same run.
Prints how the losses of the second and third differ from those of the first, and all scores.
With --floatx=float64 (Keras' floats: weights, states, losses) there is next to no rounding, and no
third run.
"""

import argparse
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple
from unittest import mock

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.new_process import in_new_process
from benchmarks.systems import recipe
from benchmarks.uniform_corpus import without_documents
from uanet_lite.columns_file import read_corpus
from uanet_tf.config import Config

ONE, TWO, KERNELS = "one device", "two devices", "one, other kernels"
FEW, MANY = 100, 1000  # steps


class Run(NamedTuple):
    """What a run came to.

    Attributes:
      losses: of each step, summed over its tokens.
      tokens: of each step.
      dev, test: scores of the finished run, in percent.
    """

    losses: np.ndarray
    tokens: np.ndarray
    dev: float
    test: float


def train(config: Config, run_dir: str, devices: int, floatx: str) -> Run:
    """Trains in this process, which has not used TensorFlow yet.

    Args:
      config: settings.
      run_dir: of the run.
      devices: logical CPU devices.
      floatx: Keras' floats.
    """
    import tensorflow as tf

    from uanet_tf.training.fit import fit
    from uanet_tf.training.replicas import Replicas

    tf.keras.backend.set_floatx(floatx)
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * devices
    )
    sums: list[tuple[float, float]] = []
    graph_of = Replicas.graph_of

    def with_sums(replicas, step, batches):
        graph, trainer = graph_of(replicas, step, batches), step.__self__

        def run(*batch):
            graph(*batch)
            sums.append((float(trainer.loss_sum.numpy()), float(trainer.token_sum.numpy())))

        return run

    with mock.patch.object(Replicas, "graph_of", with_sums):
        metrics = fit(config, run_dir)
    score = "f1" if metrics["task"] == "ner" else "accuracy"
    return Run(*steps_of(sums), metrics["dev"][score], metrics["test"][score])


def steps_of(sums: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Loss and number of tokens of each step, from the sums since the start of its epoch.

    Args:
      sums: of the losses, and number of tokens; the latter falls where an epoch begins.
    """
    losses, tokens = np.array(sums, np.float64).T
    begins = np.diff(tokens, prepend=np.inf) <= 0
    losses, tokens = (x - np.where(begins, 0, np.roll(x, 1)) for x in (losses, tokens))
    return losses, tokens


def compare(config: Config, folder: pathlib.Path, floatx: str) -> dict[str, Run]:
    """The runs of one seed, by name."""
    mirrored = config.replace(strategy="mirrored")
    runs = {
        ONE: in_new_process(train, config, str(folder / "one"), 1, floatx),
        TWO: in_new_process(train, mirrored, str(folder / "two"), 2, floatx),
    }
    if floatx == "float32":
        other_kernels = {"TF_ENABLE_ONEDNN_OPTS": "0"}
        runs[KERNELS] = in_new_process(
            train, config, str(folder / "kernels"), 1, floatx, environment=other_kernels
        )
    return runs


def differences(run: Run, other: Run, steps: int) -> tuple[float, float]:
    """Of the mean loss per token in the first steps, and the largest of a single step's."""
    means = [each.losses[:steps].sum() / each.tokens[:steps].sum() for each in (run, other)]
    single = [each.losses[:steps] / each.tokens[:steps] for each in (run, other)]
    return abs(means[0] - means[1]), np.abs(single[0] - single[1]).max()


def rows(seed: int, runs: dict[str, Run]) -> list[str]:
    """Rows of Markdown, one for each run of a seed."""
    lines = []
    for name, run in runs.items():
        cells = [str(seed), name, "", "", ""]
        if name != ONE:
            few = differences(run, runs[ONE], FEW)
            many = differences(run, runs[ONE], MANY)[1:] if len(run.losses) >= MANY else ()
            numbers = [f"{x:.1g}" for x in (*few, *many)]
            cells[2 : 2 + len(numbers)] = numbers
        cells += [f"{run.dev:.2f}", f"{run.test:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(
    config: Config,
    data: pathlib.Path,
    *,
    sentences: int,
    seeds: Sequence[int],
    floatx: str = "float32",
    write: Callable[[str], object] = print,
) -> None:
    """Trains all and writes the table, seed by seed."""
    counts = f"mean loss of {FEW} steps | one step's, of {FEW} | of {MANY:,}"
    write(f"| seed | run | {counts} | dev | test |")
    write("| --- " * 7 + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        corpus = read_corpus(str(data / "train.conll"))[:sentences]
        (folder / "train.conll").write_text(without_documents(corpus), encoding="utf-8")
        paths = {f"{part}_path": str(data / f"{part}.conll") for part in ("dev", "test")}
        paths["train_path"] = str(folder / "train.conll")
        for seed in seeds:
            own = folder / str(seed)
            for line in rows(seed, compare(config.replace(**paths, seed=seed), own, floatx)):
                write(line)


def parse() -> argparse.Namespace:
    """The command's arguments."""
    parser = make_parser("replicas", __doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--recipe", default="uanet_fast")
    parser.add_argument("--sentences", type=int, default=1600)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--floatx", choices=("float32", "float64"), default="float32")
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    main(
        recipe(options.recipe).replace(epochs=options.epochs),
        options.data,
        sentences=options.sentences,
        seeds=[int(seed) for seed in options.seeds.split(",")],
        floatx=options.floatx,
    )
