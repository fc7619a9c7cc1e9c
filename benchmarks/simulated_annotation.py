"""How many labels annotating by rank saves: a simulation on a corpus that is labelled already.

    python -m benchmarks.simulated_annotation --data=FOLDER [--sentences=3000] [--by=mean,random]
        [--shares=0.1,0.2,0.3,0.45,0.6,0.8] [--seeds=1,2,3] [--less=1] FLAGS

FOLDER has train.conll, dev.conll and test.conll. Of the first sentences of the training file, in
random order, the first hold the first share of all tokens: they are annotated, which is to say that
a model is trained on them. It tags the others, those that come first by a score of `uanet rank`
(or at random) are annotated too, up to the next share, and a new model is trained on all. This ends
when F1 of dev and of test is at most --less points below that of a model trained on all sentences.
Prints each round, and the share at which each file got there (between two rounds, on a straight
line). FLAGS are those of train, such as --recipe=fast. Each training is a process of its own.
"""

import argparse
import pathlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.new_process import in_new_process
from benchmarks.uniform_corpus import without_documents
from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.commands.setting_flags import settings_of
from uanet_tf.config import Config
from uanet_tf.evaluation.ranking import SCORES

RANDOM = "random"
PARTS = ("dev", "test")


class Simulation(NamedTuple):
    """What all rounds have in common.

    Attributes:
      config: settings of training; paths and seed in it are not read.
      corpus: all sentences that may be annotated.
      data: folder of dev.conll and test.conll.
      folder: for runs and training files.
      shares: of all tokens, rising: what is annotated in each round.
      less: points of F1.
    """

    config: Config
    corpus: Sequence[Sentence]
    data: pathlib.Path
    folder: pathlib.Path
    shares: Sequence[float]
    less: float


def train(config: Config, paths: dict[str, str], run_dir: str, seed: int) -> tuple[float, ...]:
    """F1 on dev and test, percent, of a run on the training file."""
    from uanet_tf.training.fit import fit

    files = {f"{part}_path": path for part, path in paths.items()}
    fit(config.replace(seed=seed, **files), run_dir)
    from uanet_tf.metrics.run_metrics import read_run_metrics

    metrics = read_run_metrics(pathlib.Path(run_dir, "metrics.json"))
    return tuple(metrics[part]["f1"] for part in PARTS)


def scores(run_dir: str, sentences: Sequence[Sequence[str]], by: str) -> np.ndarray:
    """The score of each sentence, by a run; higher is more worth annotating."""
    import uanet_tf

    model: Any = uanet_tf.load_model(run_dir)
    if by == "mutual_information":
        model.return_mutual_information = True
    return np.array([SCORES[by](answer) for answer in uanet_tf.tag(model, sentences)])


def up_to(order: np.ndarray, lengths: np.ndarray, tokens: float) -> np.ndarray:
    """The first sentences of an order, until they hold so many tokens."""
    return order[: int(np.searchsorted(np.cumsum(lengths[order]), tokens)) + 1]


def reached(shares: Sequence[float], found: Sequence[float], aim: float) -> float | None:
    """The share at which F1 first reaches an aim, on straight lines; None: at none."""
    before: tuple[float, float] | None = None
    for share, f1 in zip(shares, found, strict=False):
        if f1 >= aim:
            if before is None:
                return share
            return before[0] + (share - before[0]) * (aim - before[1]) / (f1 - before[1])
        before = share, f1
    return None


def annotate(
    given: Simulation, by: str, seed: int, full: Sequence[float], first: list
) -> list[tuple[float, ...]]:
    """F1 on dev and test of each round.

    Args:
      given: the simulation.
      by: a score, or "random".
      seed: of the order and of the models.
      full: F1 on dev and test with all sentences.
      first: the run of the first round and its F1, which all scores share; [] where there is none
        yet, it is then put here.
    """
    lengths = np.array([len(sentence.tokens) for sentence in given.corpus])
    order = np.random.default_rng(seed).permutation(len(lengths))
    total, results, run_dir = lengths.sum(), [], ""
    chosen = up_to(order, lengths, given.shares[0] * total)
    for number, share in enumerate(given.shares):
        if number:
            rest = order[~np.isin(order, chosen)]
            if by != RANDOM:
                tokens = [given.corpus[k].tokens for k in rest]
                rest = rest[np.argsort(-in_new_process(scores, run_dir, tokens, by), kind="stable")]
            chosen = np.concatenate(
                [chosen, up_to(rest, lengths, share * total - lengths[chosen].sum())]
            )
        if number or not first:
            run_dir = str(given.folder / f"{by}-{seed}-{number}")
            found = _train_on(given, chosen, run_dir, seed)
            if not number:
                first[:] = run_dir, found
        else:
            run_dir, found = first
        results.append(found)
        if all(f1 >= of_all - given.less for f1, of_all in zip(found, full, strict=True)):
            break
    return results


def _train_on(given: Simulation, chosen: np.ndarray, run_dir: str, seed: int) -> tuple[float, ...]:
    train_path = f"{run_dir}.conll"
    sentences = [given.corpus[k] for k in np.sort(chosen)]
    pathlib.Path(train_path).write_text(without_documents(sentences), encoding="utf-8")
    paths = {part: str(given.data / f"{part}.conll") for part in PARTS}
    return in_new_process(train, given.config, {**paths, "train": train_path}, run_dir, seed)


def main(
    given: Simulation, by: Sequence[str], seeds: Sequence[int], write: Callable[[str], Any] = print
) -> None:
    """Runs the simulation and writes its tables."""
    write("| seed | by | share of tokens | dev | test |\n| --- | --- | --- | --- | --- |")
    needed: dict[str, list[list[float | None]]] = {name: [] for name in by}
    for seed in seeds:
        everything = np.arange(len(given.corpus))
        full = _train_on(given, everything, str(given.folder / f"all-{seed}"), seed)
        write(f"| {seed} | all | 1 | {full[0]:.2f} | {full[1]:.2f} |")
        first: list = []
        for name in by:
            results = annotate(given, name, seed, full, first)
            for share, found in zip(given.shares, results, strict=False):
                write(f"| {seed} | {name} | {share:g} | {found[0]:.2f} | {found[1]:.2f} |")
            needed[name].append(
                [
                    reached(given.shares, [found[part] for found in results], of_all - given.less)
                    for part, of_all in enumerate(full)
                ]
            )
    write("\n| by | dev, share by seed | test, share by seed |\n| --- | --- | --- |")
    for name, rows in needed.items():
        cells = [
            ", ".join("not reached" if value is None else f"{value:.2f}" for value in column)
            for column in zip(*rows, strict=True)
        ]
        write(f"| {name} | {' | '.join(cells)} |")


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, Config]:
    """The command's arguments, and the settings of training."""
    parser = make_parser("simulated_annotation", __doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--by", default="mean,random")
    parser.add_argument("--shares", default="0.1,0.2,0.3,0.45,0.6,0.8")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--less", type=float, default=1.0)
    options, rest = parser.parse_known_args(arguments)
    return options, settings_of(rest).config


if __name__ == "__main__":
    options, config = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        main(
            Simulation(
                config,
                read_corpus(str(options.data / "train.conll"))[: options.sentences],
                options.data,
                pathlib.Path(name),
                [float(share) for share in options.shares.split(",")],
                options.less,
            ),
            options.by.split(","),
            [int(seed) for seed in options.seeds.split(",")],
        )
