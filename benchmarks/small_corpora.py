"""Recipes on small training files, beside a plain Keras tagger.

    python -m benchmarks.small_corpora --data=FOLDER [--sizes=200,600,2000] [--seeds=1,2,3]
        [--recipes=fast,quickstart,bilstm+ten_epochs] [--epochs=25]
        [--min_steps=N]

FOLDER has train.conll, dev.conll and test.conll, entities in IOB2. The first sentences of the
training file are taken. Recipes train as many epochs as they say, with as many steps (unless
--min_steps is given); the Keras tagger --epochs, of which the best on the development file counts.
Each run is a process of its own.
"""

import argparse
import pathlib
import tempfile
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.command_line import make_parser
from benchmarks.new_process import in_new_process
from benchmarks.uniform_corpus import without_documents
from uanet_lite.columns_file import read_corpus

KERAS = "plain Keras tagger"


def train_keras(paths: dict[str, str], seed: int, epochs: int) -> tuple[float, float]:
    """F1 of the Keras tagger on dev and test, in percent."""
    import tensorflow as tf

    from benchmarks.keras_tagger import KerasTagger

    tf.keras.utils.set_random_seed(seed)
    corpora = {name: read_corpus(path) for name, path in paths.items()}
    tagger = KerasTagger(corpora["train"])
    return tagger.fit(corpora["dev"], epochs), tagger.score(corpora["test"])


def train_recipe(
    recipe: str, paths: dict[str, str], run_dir: str, settings: dict[str, int]
) -> tuple[float, float]:
    """F1 of a recipe, or of several after one another, joined by "+", on dev and test."""
    import uanet_tf

    uanet_tf.train(recipe=recipe.replace("+", ","), run_dir=run_dir, **settings, **paths, verbose=0)
    from uanet_tf.metrics.run_metrics import read_run_metrics

    metrics = read_run_metrics(pathlib.Path(run_dir, "metrics.json"))
    return metrics["dev"]["f1"], metrics["test"]["f1"]


def row(size: int, name: str, scores: Sequence[tuple[float, float]]) -> str:
    """A row of Markdown: mean and standard deviation over the seeds, dev and test."""
    cells = []
    for values in zip(*scores, strict=True):
        sd = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
        cells.append(f"{np.mean(values):.1f}{sd}")
    return f"| {size:,} | {name} | {' | '.join(cells)} |"


def main(
    data: pathlib.Path,
    sizes: Sequence[int],
    seeds: Sequence[int],
    recipes: Sequence[str],
    epochs: int,
    min_steps: int | None = None,
    write: Callable[[str], object] = print,
) -> None:
    """Trains all and writes the table, row by row."""
    write("| sentences | system | dev | test |\n| --- | --- | --- | --- |")
    corpus = read_corpus(str(data / "train.conll"))
    settings = {} if min_steps is None else {"min_steps": min_steps}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for size in sizes:
            train = folder / f"{size}.conll"
            train.write_text(without_documents(corpus[:size]), encoding="utf-8")
            paths = {part: str(data / f"{part}.conll") for part in ("dev", "test")}
            paths["train"] = str(train)
            scores = [in_new_process(train_keras, paths, seed, epochs) for seed in seeds]
            write(row(size, KERAS, scores))
            for recipe in recipes:
                scores = []
                for seed in seeds:
                    run_dir = str(folder / f"{size}-{recipe}-{seed}")
                    given = settings | {"seed": seed}
                    scores.append(in_new_process(train_recipe, recipe, paths, run_dir, given))
                write(row(size, recipe, scores))


def parse() -> argparse.Namespace:
    """The command's arguments."""
    parser = make_parser("small_corpora", __doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--sizes", default="200,600,2000")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--recipes", default="fast,quickstart,bilstm+ten_epochs")
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--min_steps", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    main(
        options.data,
        [int(size) for size in options.sizes.split(",")],
        [int(seed) for seed in options.seeds.split(",")],
        options.recipes.split(","),
        options.epochs,
        options.min_steps,
    )
