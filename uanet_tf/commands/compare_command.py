"""``uanet compare``: several systems on one corpus, with several seeds, in one table."""

import itertools
import pathlib
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from uanet_tf.commands.command_flags import flag
from uanet_tf.commands.training_runs import check_settings, train_run
from uanet_tf.config import is_system, recipe_path
from uanet_tf.errors import InputError
from uanet_tf.evaluation.comparison import (
    check_tables,
    differences_from_first,
    sweep_scores,
    versions,
    write_tables,
)
from uanet_tf.settings import InferenceOptions

System = list[pathlib.Path]  # flagfiles, of which a later one wins


def compare(
    extra: list[str],
    *,
    recipes: Sequence[str] = flag(
        (), "Systems, separated by commas: recipes or flagfiles, joined by +; a later one wins."
    ),
    train_path: str = flag(None, "The training file (required).", required=""),
    dev_path: str = flag(None, "The development file (required).", required=""),
    test_path: str | None = flag(None, "The test file (scored, if given)."),
    seeds: int = flag(3, "Number of seeds: 1 to N."),
    significance: bool = flag(
        False,
        "Test the difference of each system from the first by approximate randomisation over "
        "the sentences of the test file.",
    ),
    sweep: str = flag(
        "",
        "Inference options whose values are columns, on the test file (else the development "
        "file): num_samples=0,1,8; of several options, all combinations.",
    ),
    output: str = flag(None, "Directory of runs and tables (required).", required=""),
) -> None:
    r"""Trains and scores several systems on one corpus, with several seeds, into one table.

        uanet compare --recipes=fast,bilstm+ten_epochs --train_path=A --dev_path=B \
            --test_path=C --seeds=3 --significance --output=DIR

    A system is a recipe (see uanet recipes) or a flagfile, or several joined by +, and is called by
    its name; ten_epochs, which is none, trains another as fast is trained. Where systems are not
    trained alike (optimizer, epochs, steps), the tables say so. Flags after "--" are passed to
    every training run, after the system's own flags. Runs are in DIR/SYSTEM/seedN; those that are
    complete are not trained again, one that was stopped continues, one of other settings or files
    is refused. Writes DIR/results.md, results.csv and results.tex (LaTeX, booktabs) after each run,
    of all complete runs in DIR: the given systems first, then any others. --significance tags the
    test file with all runs of the given systems and adds p of each difference from the first of
    them. --sweep=num_samples=1,8 adds a column for each value, and M = 0 as their baseline.
    """
    if significance and not test_path:
        raise InputError("--significance needs --test_path.")
    configs = _systems(recipes, seeds)
    grid = _grid(sweep)
    out = pathlib.Path(output)
    check_tables(out)
    systems = list(configs)
    paths = {"train": train_path, "dev": dev_path, "test": test_path}
    files = [f"--{name}_path={path}" for name, path in paths.items() if path]
    options = [*files, f"--seeds={seeds}", *(["--significance"] if significance else [])]
    options += [f"--sweep={sweep}"] if sweep else []
    typed = [f"--recipes={','.join(recipes)}", *options, f"--output={output}"]
    about = {
        "corpus": ", ".join(f"{name} {path}" for name, path in paths.items() if path),
        "command": shlex.join(["uanet", "compare", *typed, *(["--", *extra] if extra else [])]),
        "versions": versions(),
        "seeds": f"1 to {seeds}",
    }
    typed_flags = {
        system: [*(f"--flagfile={path}" for path in flagfiles), *files, *extra]
        for system, flagfiles in configs.items()
    }
    for system, arguments in typed_flags.items():
        check_settings(arguments, system)
    for (system, arguments), seed in itertools.product(typed_flags.items(), range(1, seeds + 1)):
        run_dir = out / system / f"seed{seed}"
        own = [*arguments, f"--seed={seed}", f"--run_dir={run_dir}"]
        train_run(run_dir, own, f"{system} with seed {seed}")
        table = write_tables(out, systems, about=about)
    scored = str(test_path or dev_path)
    found = differences_from_first(out, systems, seeds, scored) if significance else None
    swept = sweep_scores(out, systems, seeds, scored, grid) if grid else None
    if significance or grid:
        table = write_tables(out, systems, found, swept=swept, about=about)
    sys.stdout.write(table)


def _systems(names: Sequence[str], seeds: int) -> dict[str, System]:
    """The flagfiles of each system, by its name."""
    names = [name for name in names if name]
    if not names:
        raise InputError("--recipes must name at least one recipe or flagfile.")
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1. Received: {seeds}")
    systems: dict[str, System] = {}
    for name in names:
        parts = [name] if pathlib.Path(name).is_file() else name.split("+")
        flagfiles = [_flagfile(part) for part in parts]
        system = "+".join(path.stem for path in flagfiles)
        first = flagfiles[0].stem
        if not is_system(flagfiles[0]):
            goes = f"it goes after one, as in bilstm+{first}"
            raise InputError(f"--recipes: {first} is no system: {goes}.")
        if system in systems:
            raise InputError(f"--recipes: two flagfiles are called {system}.")
        systems[system] = flagfiles
    return systems


def _flagfile(name: str) -> pathlib.Path:
    path = pathlib.Path(name)
    if path.is_file():
        return path
    if path.suffix or path.name != name:
        raise InputError(f"--recipes: there is no file {name}.")
    return recipe_path(name)


def _grid(sweep: str) -> list[dict[str, Any]]:
    """The combinations of options that --sweep asks for; M = 0 is always among several M."""
    values: dict[str, list[Any]] = {}
    defaults = vars(InferenceOptions())
    name = ""
    for piece in filter(None, sweep.split(",")):
        before, equals, text = piece.rpartition("=")
        name = before or name
        if name not in defaults or (equals and not before):
            raise InputError(
                f"--sweep must be OPTION=VALUE,VALUE with one of {', '.join(defaults)}; what is "
                f"trained differently is a system. Received: {sweep}"
            )
        values.setdefault(name, []).append(_value(type(defaults[name]), text, sweep))
    if not values:
        return []
    if "num_samples" in values:
        values["num_samples"] = list(dict.fromkeys([0, *values["num_samples"]]))
    grid = [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
    for options in grid:
        InferenceOptions().replace(**options)  # checks them
    return grid


def _value(kind: type, text: str, sweep: str) -> Any:
    try:
        return {"true": True, "false": False}[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        raise InputError(f"--sweep: {text!r} is no {kind.__name__}. Received: {sweep}") from None
