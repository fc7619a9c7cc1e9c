"""``uanet compare``: several systems on one corpus, with several seeds, in one table."""

import pathlib
import sys
from collections.abc import Sequence
from typing import Annotated

from uanet_tf.commands.command_flags import Flag, parse
from uanet_tf.commands.setting_flags import SettingFlags, Settings
from uanet_tf.commands.training_runs import train_run
from uanet_tf.config import Config, recipe_path
from uanet_tf.errors import InputError
from uanet_tf.evaluation.comparison import (
    check_tables,
    complete_metrics,
    differences_from_first,
    write_tables,
)
from uanet_tf.training.run_directory import RunDirectory, file_hashes


def compare(
    extra: list[str],
    *,
    recipes: Annotated[Sequence[str], Flag("Recipes or flagfiles, separated by commas.")] = (),
    train_path: Annotated[str, Flag("The training file (required).", required="")],
    dev_path: Annotated[str, Flag("The development file (required).", required="")],
    test_path: Annotated[str | None, Flag("The test file (scored, if given).")] = None,
    seeds: Annotated[int, Flag("Number of seeds: 1 to N.")] = 3,
    significance: Annotated[
        bool,
        Flag(
            "Test the difference of each system from the first by approximate randomisation over "
            "the sentences of the test file."
        ),
    ] = False,
    output: Annotated[str, Flag("Directory of runs and tables (required).", required="")],
) -> None:
    r"""Trains and scores several systems on one corpus, with several seeds, into one table.

        uanet compare --recipes=fast,bilstm --train_path=A --dev_path=B \
            --test_path=C --seeds=3 --output=DIR -- --epochs=10

    A system is a recipe (see uanet recipes) or a flagfile, and is called by its name. Flags after
    "--" are passed to every training run, after the system's own flags: a second --recipe or
    --flagfile there overrides them in all systems. Runs are in DIR/SYSTEM/seedN; those that are
    complete are not trained again, one that was stopped continues, one of other settings or files
    is refused. Writes DIR/results.md (for people) and DIR/results.csv (for programs) after each
    run, of all complete runs in DIR: the given systems first, then any others. --significance tags
    the test file with all runs of the given systems and adds p of each difference from the first of
    them.
    """
    if significance and not test_path:
        raise InputError("--significance needs --test_path.")
    configs = _configs(recipes, seeds)
    out = pathlib.Path(output)
    check_tables(out)
    systems = [config.stem for config in configs]
    paths = {"train": train_path, "dev": dev_path, "test": test_path}
    files = [f"--{name}_path={path}" for name, path in paths.items() if path]
    table = ""
    for config in configs:
        for seed in range(1, seeds + 1):
            run_dir = out / config.stem / f"seed{seed}"
            arguments = [f"--flagfile={config}", *files, f"--seed={seed}", f"--run_dir={run_dir}"]
            arguments += extra
            if complete_metrics(run_dir) is not None:
                _check_same(run_dir, arguments)
            train_run(run_dir, arguments, f"{config} with seed {seed}")
            table = write_tables(out, systems)
    if significance:
        found = differences_from_first(out, systems, seeds, str(test_path))
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


def _check_same(run_dir: pathlib.Path, arguments: Sequence[str]) -> None:
    """Raises InputError if a complete run is of other settings or data than these."""
    try:
        call = parse(_settings, ["train", *arguments])
        if call is None:
            raise InputError("--help trains nothing.")
    except InputError as error:
        raise InputError(f"The flags of training: {error}") from error
    config, trained = call(), RunDirectory(run_dir)
    trained.check(config)
    trained.check_data(config, file_hashes(config.data))


def _settings(
    run_dir: Annotated[str, Flag("")], settings: Annotated[Settings, SettingFlags()]
) -> Config:
    """The configuration that flags of training describe."""
    return settings.config
