"""Models that come with the package: run directories, by name."""

import os
import pathlib

from uanet_lite.input_error import InputError

FOLDER = pathlib.Path(__file__).parent / "pretrained"


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.keras"))


def find_run(run_dir: str | os.PathLike) -> pathlib.Path:
    """The directory of a run.

    Args:
      run_dir: a directory, or the name of a model that comes with the package. A directory of
        that name goes first.

    Raises:
      InputError: it is no path.
    """
    if not isinstance(run_dir, str | os.PathLike):
        raise InputError(
            "run_dir must be the path of a run, or the name of a model that comes with the "
            f"package. Received: {run_dir!r:.60}"
        )
    path = pathlib.Path(run_dir)
    name = os.fspath(run_dir)
    if name in shipped_models() and not path.exists():
        return FOLDER / name
    return path
