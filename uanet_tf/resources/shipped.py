"""Models that come with the package: run directories, by name."""

import os
import pathlib

from uanet_lite.argument_checks import check_path

FOLDER = pathlib.Path(__file__).parent / "pretrained"


def shipped_models() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.parent.name for path in FOLDER.glob("*/model.keras"))


def find_run(run_dir: str | os.PathLike) -> pathlib.Path:
    """The directory of a run: ``run_dir``, or that of the model of this name in the package.

    A directory of that name goes first; what is no path is an InputError.
    """
    wanted = "the path of a run, or the name of a model that comes with the package"
    name = check_path("run_dir", run_dir, wanted)
    path = pathlib.Path(name)
    return FOLDER / name if name in shipped_models() and not path.exists() else path
