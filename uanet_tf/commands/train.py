r"""Trains a tagger.

    uanet train --recipe=fast --train_path=A --dev_path=B --test_path=C \
        --run_dir=R

``uanet recipes`` lists the recipes. Flags after --recipe override it, and so does a
--flagfile=FILE of your own; python train.py is the same. The same command continues a run
that was stopped. Exit code 2: bad input, explained in one sentence on stderr.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.commands.config_flags import config_from_flags, define_config_flags, given_settings
from uanet_tf.config import recipe_path
from uanet_tf.errors import InputError

FLAGS = flags.FLAGS
_RECIPE = "--recipe"

flags.DEFINE_string("run_dir", None, "Directory of the run: model, metrics, checkpoints, logs.")
flags.DEFINE_string(
    "recipe",
    None,
    "Settings that come with the package, by name, see uanet recipes; several are separated by "
    "commas, and a later one wins.",
)
define_config_flags(FLAGS)


def main() -> None:
    """Trains with the flags' settings."""
    settings = config_from_flags(FLAGS)
    if not FLAGS.run_dir:
        raise InputError("--run_dir is required: the directory that the run writes to.")
    from uanet_tf.training.fit import fit  # TensorFlow is loaded only for good arguments

    report(fit(settings, FLAGS.run_dir, given=given_settings(sys.argv)))


def report(metrics: dict[str, Any]) -> None:
    """Prints the final scores."""
    measure = "f1" if metrics["task"] == "ner" else "accuracy"
    for name in ("dev", "test"):
        if name in metrics:
            scores = metrics[name]
            parts = [f"{name}: {measure} {scores[measure]:.2f}"]
            for part, said in (("draft", "draft"), ("refined", "all refined")):
                if f"{part}_{measure}" in scores:
                    parts.append(f"{said} {scores[f'{part}_{measure}']:.2f}")
            where = f"(best epoch {metrics['best_epoch']}, {FLAGS.run_dir})"
            print(f"{', '.join(parts)} {where}")


def with_recipes(arguments: Sequence[str]) -> list[str]:
    """The arguments with the flagfiles of the recipes named, each in its place.

    Raises:
      InputError: there is no such recipe.
    """
    return list(_with_recipes(iter(arguments)))


def _with_recipes(arguments: Iterator[str]) -> Iterator[str]:
    for argument in arguments:
        name, _, value = argument.partition("=")
        # absl takes one dash or two, and the value behind "=" or as the next argument.
        if f"--{name.lstrip('-')}" != _RECIPE or not name.startswith("-"):
            yield argument
            continue
        names = value if "=" in argument else next(arguments, "")
        for recipe in [name for name in names.split(",") if name] or [names]:
            yield f"--flagfile={recipe_path(recipe)}"


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, prepare=with_recipes)
