"""Files that appear complete or not at all."""

import contextlib
import gzip
import io
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from typing import TextIO, cast

from uanet_lite.input_error import InputError

try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]

STDOUT = "-"


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """Makes an empty hidden file beside ``path``, which takes that name at the end.

    Yields its path, of the same ending; the file is to be written and closed. After any failure it
    is removed, and an older file is untouched. It is locked meanwhile: the file of a killed process
    has no lock, and is removed by the next process that writes to the same path.

    Raises:
      OSError: it cannot be made; its directory must exist.
    """
    folder, name = os.path.split(os.fspath(path))
    with contextlib.suppress(OSError):  # a folder may be written that cannot be listed
        _sweep(folder or ".", name)
    handle, part = _locked(folder, name)
    try:
        yield part
        os.replace(part, path)
    finally:
        with contextlib.suppress(OSError):
            os.remove(part)
        if handle is not None:
            os.close(handle)


@contextlib.contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Opens ``path`` for writing UTF-8 text with LF line ends; "-" is standard output.

    A file gets its name only when all is written, see ``atomic_file``: it may be the one that is
    being read. A name ending in .gz is gzipped. Devices and pipes are written directly.

    Raises:
      InputError: the file cannot be created, or written.
    """
    if path == STDOUT:
        if sys.stdout is None:  # started with its standard output closed
            raise InputError("<stdout>: is closed.")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        yield sys.stdout
        sys.stdout.flush()
        return
    if not path:
        raise InputError("'': an output needs a name; '-' is standard output.")
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise InputError(f"{path}: is a directory, not a file.")
    if os.path.exists(target) and not os.path.isfile(target):
        with _create(target, path) as stream:
            yield stream
        return
    with contextlib.ExitStack() as stack:
        try:
            part = stack.enter_context(atomic_file(target))
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
        with _written(path), _create(part, path) as stream:
            yield stream
        if os.path.exists(target):
            shutil.copymode(target, part)


def _locked(folder: str, name: str) -> tuple[int | None, str]:
    while True:
        part = os.path.join(folder, f".{secrets.token_hex(4)}.part.{name}")
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            os.close(handle)  # an open file could not be renamed
            return None, part
        with contextlib.suppress(OSError):  # nothing is removed on file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, part
        os.close(handle)  # removed between the two steps


def _sweep(folder: str, name: str) -> None:
    if fcntl is None:
        return
    hidden = re.compile(rf"\.[0-9a-f]{{8}}\.part\.{re.escape(name)}")
    for left in filter(hidden.fullmatch, os.listdir(folder)):
        with contextlib.suppress(OSError):  # in use, or somebody else's
            handle = os.open(os.path.join(folder, left), os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.remove(os.path.join(folder, left))
            finally:
                os.close(handle)


@contextlib.contextmanager
def _written(name: str) -> Iterator[None]:
    """Turns what goes wrong in writing, which comes without a file's name, into an InputError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise InputError(f"{name}: cannot be written ({error.strerror}).") from None


def _create(path: str, name: str) -> TextIO:
    try:
        if name.endswith(".gz") and os.path.isfile(path):
            return cast(TextIO, gzip.open(path, "wt", encoding="utf-8", newline="\n"))
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{name}: cannot be written ({error.strerror}).") from None
