r"""Trains and scores several systems on one corpus, with several seeds, into one table.

    uanet compare --recipes=fast,bilstm_crf --train_path=A --dev_path=B \
        --test_path=C --seeds=3 --output=DIR -- --epochs=10

A system is a recipe (see uanet recipes) or a flagfile, and is called by its name. Flags after "--"
are passed to every training run, after the system's own flags: a second --recipe or --flagfile
there overrides them in all systems. Runs are in DIR/SYSTEM/seedN; those that are complete are not
trained again, one that was stopped continues, one of other settings or files is refused. Writes
DIR/results.md (for people) and DIR/results.csv (for programs) after each run, of all complete runs
in DIR: the given systems first, then any others. --significance tags the test file with all runs of
the given systems and adds p of each difference from the first of them.
"""

import pathlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from absl import flags

from uanet_tf.commands import runner
from uanet_tf.commands.config_flags import config_from_flags, define_config_flags
from uanet_tf.commands.train import with_recipes
from uanet_tf.commands.training_process import train_run
from uanet_tf.config import recipe_path
from uanet_tf.errors import InputError, one_line
from uanet_tf.evaluation.comparison import (
    check_tables,
    complete_metrics,
    differences_from_first,
    write_tables,
)
from uanet_tf.training.file_hashes import file_hashes
from uanet_tf.training.run_directory import RunDirectory

FLAGS = flags.FlagValues()
flags.DEFINE_list("recipes", None, "Recipes or flagfiles, separated by commas.", flag_values=FLAGS)
for _part, _is in (("train", "required"), ("dev", "required"), ("test", "scored, if given")):
    flags.DEFINE_string(f"{_part}_path", None, f"The {_part} file ({_is}).", flag_values=FLAGS)
flags.DEFINE_integer("seeds", 3, "Seeds 1 to N.", flag_values=FLAGS)
flags.DEFINE_boolean(
    "significance",
    False,
    "Test the difference of each system from the first by approximate randomisation over the "
    "sentences of the test file.",
    flag_values=FLAGS,
)
flags.DEFINE_string("output", None, "Directory of runs and tables (required).", flag_values=FLAGS)


def main(extra: list[str]) -> None:
    """Trains what is missing and writes the tables.

    Args:
      extra: flags for every training run.

    Raises:
      InputError: a system is missing, a training run failed, or a complete one is of other
        settings or data.
    """
    for name in ("train_path", "dev_path", "output"):
        if not FLAGS[name].value:
            raise InputError(f"--{name} is required.")
    if FLAGS.significance and not FLAGS.test_path:
        raise InputError("--significance needs --test_path.")
    configs = _configs(FLAGS.recipes or [], FLAGS.seeds)
    check_tables(pathlib.Path(FLAGS.output))
    systems = [config.stem for config in configs]
    out = pathlib.Path(FLAGS.output)
    table = ""
    for config in configs:
        for seed in range(1, FLAGS.seeds + 1):
            _train(config, seed, out / config.stem / f"seed{seed}", extra)
            table = write_tables(out, systems)
    if FLAGS.significance:
        found = differences_from_first(out, systems, FLAGS.seeds, FLAGS.test_path)
        table = write_tables(out, systems, found)
    sys.stdout.write(table)


def _configs(names: Sequence[str], seeds: int) -> list[pathlib.Path]:
    """The flagfile of each system."""
    names = [name for name in names if name]
    if not names:
        raise InputError("--recipes must name at least one recipe or flagfile.")
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1. Received: {seeds}")
    configs: list[pathlib.Path] = []
    for name in names:
        config = pathlib.Path(name)
        if not config.is_file():
            if config.suffix or config.name != name:
                raise InputError(f"--recipes: there is no file {name}.")
            config = recipe_path(name)
        if config.stem in {other.stem for other in configs}:
            raise InputError(f"--recipes: two flagfiles are called {config.stem}.")
        configs.append(config)
    return configs


def _train(config: pathlib.Path, seed: int, run_dir: pathlib.Path, extra: Sequence[str]) -> None:
    paths = [
        f"--{name}_path={FLAGS[f'{name}_path'].value}"
        for name in ("train", "dev", "test")
        if FLAGS[f"{name}_path"].value
    ]
    arguments = [f"--flagfile={config}", *paths, f"--seed={seed}", f"--run_dir={run_dir}", *extra]
    if complete_metrics(run_dir) is not None:
        _check_same(run_dir, arguments)
    train_run(run_dir, arguments, f"{config} with seed {seed}")


def _check_same(run_dir: pathlib.Path, arguments: Sequence[str]) -> None:
    """Raises InputError if a complete run is of other settings or data than these."""
    values = flags.FlagValues()
    define_config_flags(values)
    flags.DEFINE_string("run_dir", None, "", flag_values=values)
    try:
        rest = values(["train", *with_recipes(arguments)], known_only=True)[1:]
    except flags.Error as error:
        raise InputError(f"The flags of training: {one_line(error)}") from error
    for name in (each.lstrip("-").partition("=")[0] for each in rest if each.startswith("-")):
        # Those of absl itself, such as --verbosity, change no run.
        if name not in flags.FLAGS and name.removeprefix("no") not in flags.FLAGS:
            raise InputError(f"The flags of training: there is no --{name}.")
    config, trained = config_from_flags(values), RunDirectory(run_dir)
    trained.check(config)
    trained.check_data(config, file_hashes(config.data))


def run() -> NoReturn:
    """Runs the command with the program's arguments, and exits."""
    runner.run(main, flag_values=FLAGS, arguments=True)
