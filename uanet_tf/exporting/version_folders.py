"""Version folders that a polling server sees complete or not at all.

TF Serving looks into a model's folder for names that are integers. A version is written beside
them under another name, on the same file system, and then renamed in one step. Left-overs of an
export that was killed are removed by the next one.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
from collections.abc import Iterator, Sequence

from uanet_tf.errors import InputError

_PART = ".part-"
_MAX_VERSION = 2**63 - 1  # TF Serving's versions are int64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_name(name: str, text_ending: str) -> None:
    """Raises InputError for a model name that cannot be used in a path or an address."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "`name` must be letters, digits, '.', '_' and '-', and begin with a letter or a digit. "
            f"Received: {name!r}"
        )
    if name.endswith(text_ending):
        raise InputError(
            f"`name` must not end in {text_ending!r}, which is the ending of the model that reads "
            f"raw text. Received: {name!r}"
        )


def choose_version(folders: Sequence[pathlib.Path], version: int | None) -> int:
    """The wanted version; None: one more than the greatest of models that share their versions.

    Raises:
      InputError: the version exists in one of the folders, which need not exist themselves, or is
        no version of TF Serving; a folder cannot be read.
    """
    try:
        found = {number: path for folder in folders for number, path in _versions(folder)}
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from error
    if version is None:
        version = max(found, default=0) + 1
        if version > _MAX_VERSION:
            raise InputError(f"{folders[0]} has no next version: name one with `version`.")
    if not (isinstance(version, int) and 1 <= version <= _MAX_VERSION):
        raise InputError(
            f"`version` must be an integer from 1 on, below 2^63. Received: {version!r}"
        )
    if version in found:
        raise InputError(
            f"{found[version]} exists already: name another `version`, or none for the next free."
        )
    return version


@contextlib.contextmanager
def new_versions(
    folders: Sequence[pathlib.Path], version: int | None, *, shared: Sequence[pathlib.Path] = ()
) -> Iterator[tuple[int, list[pathlib.Path]]]:
    """Context in which new versions are written; at its end they appear, the first folder's last.

    It gives the version, and a directory for each folder, not yet made, to write it to. After a
    failure everything is as before.

    Args:
      folders: made if missing. Where the first one has a version, the others have it too.
      shared: folders of all models that share these versions.

    Raises:
      InputError: see ``choose_version``; also a folder that cannot be written, or into which
        another process is exporting.
    """
    with contextlib.ExitStack() as stack:
        try:
            for folder in folders:
                stack.enter_context(_claimed(folder))
            _clear(folders, shared or folders)
        except OSError as error:
            raise InputError(f"{error.filename} cannot be written: {error.strerror}.") from error
        version = choose_version(shared or folders, version)
        parts = [folder / f"{_PART}{version}" for folder in folders]
        for part in parts:
            stack.callback(shutil.rmtree, part, ignore_errors=True)
        yield version, parts
        for part in parts:
            _to_disk(part)
        _rename_all([(part, part.parent / str(version)) for part in reversed(parts)])


def _rename_all(moves: Sequence[tuple[pathlib.Path, pathlib.Path]]) -> None:
    """Renames one right after the other, or none."""
    try:
        for part, version in moves:
            os.rename(part, version)
        for part, _ in moves:
            _sync(part.parent)
    except BaseException:
        for part, version in moves:
            with contextlib.suppress(OSError):  # it was not renamed
                os.rename(version, part)
        raise


def _clear(folders: Sequence[pathlib.Path], others: Sequence[pathlib.Path]) -> None:
    """Removes what a killed export left; one that was killed between two renames is completed.

    The first folder's part is renamed last. Where another folder has its version already, all parts
    were whole, and on the disk. ``others``: folders of all models that share these versions.
    """
    for folder in folders:
        for left in folder.glob(f"{_PART}*"):
            number = left.name.removeprefix(_PART)
            begun = folder == folders[0] and any((other / number).is_dir() for other in others)
            if begun and not (folder / number).exists():
                os.rename(left, folder / number)
                _sync(folder)
            else:
                shutil.rmtree(left)


@contextlib.contextmanager
def _claimed(folder: pathlib.Path) -> Iterator[None]:
    """Locks a model's folder against other exports."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    # A lock on the directory itself leaves no file, and ends with the process.
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"Another process is exporting into {folder}.") from None
        except OSError as error:
            raise InputError(f"{folder} cannot be locked: {error.strerror}.") from error
        if not os.access(folder, os.W_OK):
            raise InputError(f"{folder} cannot be written: Permission denied.")
        yield
    finally:
        os.close(handle)
        for path in made:  # again, if they are still empty
            with contextlib.suppress(OSError):
                path.rmdir()


def _versions(folder: pathlib.Path) -> Iterator[tuple[int, pathlib.Path]]:
    """(number, path) of what TF Serving would take for a version: 00000123 is 123."""
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if re.fullmatch(r"[0-9]+", path.name):
                yield int(path.name), path


def _to_disk(folder: pathlib.Path) -> None:
    """Syncs all files below ``folder`` to the disk, so that a power cut leaves no empty ones."""
    for root, _, files in os.walk(folder):
        for name in files:
            _sync(pathlib.Path(root, name))
        _sync(pathlib.Path(root))


def _sync(path: pathlib.Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
