"""Models that come with the package: run directories, by name."""

import os
import pathlib

FOLDER = pathlib.Path(__file__).parent


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.keras"))


def find_run(run_dir: str | os.PathLike) -> pathlib.Path:
    """The directory of a run.

    Args:
      run_dir: a directory, or the name of a model that comes with the package. A directory of
        that name goes first.
    """
    path = pathlib.Path(run_dir)
    name = os.fspath(run_dir)
    if name in shipped_models() and not path.exists():
        return FOLDER / name
    return path
