"""Which models to serve: the folders of versions, E/NAME/1."""

import dataclasses
import os
import pathlib

from uanet_tf.errors import InputError

MAX_VERSION = 2**63 - 1
TEXT_ENDING = "_text"  # of the names of models that take texts
_LITE_ENDING = ".tflite"
# Identifies the state of a version's files.
Fingerprint = frozenset[tuple[str, int, int, int]]


@dataclasses.dataclass(frozen=True)
class ModelSettings:
    """One model to serve."""

    name: str  # in requests
    base_path: str  # the directory of its versions
    lite: bool = False  # only versions that are TensorFlow Lite files


def latest_version(settings: ModelSettings) -> tuple[int, str] | None:
    """The highest version on disk, and its directory; None without any.

    A version is a directory whose name is a number (``00000123`` is 123); all else is skipped.

    Raises:
      OSError: the base path cannot be read.
    """
    found = []
    for name in sorted(os.listdir(settings.base_path)):
        path = os.path.join(settings.base_path, name)
        if not (name.isascii() and name.isdigit() and int(name) <= MAX_VERSION):
            continue
        if os.path.isdir(path) and (not settings.lite or lite_files(path)):
            found.append((int(name), path))
    return max(found, default=None)


def lite_files(path: str) -> list[str]:
    """The TensorFlow Lite files of a version; of a SavedModel none. OSError: it cannot be read."""
    names = sorted(os.listdir(path))
    if "saved_model.pb" in names:
        return []
    return [os.path.join(path, name) for name in names if name.endswith(_LITE_ENDING)]


def find_models(folder: str) -> list[ModelSettings]:
    """The models below ``folder``: its directories that hold a version, by name.

    A TensorFlow Lite file takes texts too: as the model NAME_text, if that is no directory.

    Raises:
      InputError: there is none, or ``folder`` cannot be read.
    """
    try:
        names = sorted(os.listdir(folder))
        paths = {name: os.path.abspath(os.path.join(folder, name)) for name in names}
        models = [ModelSettings(name, path) for name, path in paths.items() if os.path.isdir(path)]
        found = [model for model in models if _may_hold_versions(model)]
        names = [model.name + TEXT_ENDING for model in found]
        texts = [
            ModelSettings(name, model.base_path, lite=True)
            for name, model in zip(names, found, strict=True)
            if name not in paths
        ]
        found += [model for model in texts if _may_hold_versions(model)]
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}).") from None
    if not found:
        raise InputError(f"{folder}: holds no model (a directory NAME with versions 1, 2, ...).")
    return found


def _may_hold_versions(model: ModelSettings) -> bool:
    try:
        return latest_version(model) is not None
    except OSError:
        return not model.lite  # it cannot be read now: a model whose versions may come


def fingerprint(path: str) -> Fingerprint:
    """Names, sizes, times and modes of the files below ``path``; OSError if one goes meanwhile.

    A version that could not be loaded is tried again when they change.
    """
    files = [(str(file), file.stat()) for file in pathlib.Path(path).rglob("*")]
    return frozenset((name, s.st_size, s.st_mtime_ns, s.st_mode) for name, s in files)
