"""The hidden file that an output is written to before it gets its name."""

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Iterator


@contextlib.contextmanager
def part_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """Makes an empty file beside ``path``, and removes it at the end if it is still there.

    It is locked meanwhile: the file of a killed process has no lock, and is removed by the next
    process that writes to the same path.

    Args:
      path: of the output; its directory must exist.

    Yields:
      The file's path, to be written, and renamed to ``path`` once it is whole.

    Raises:
      OSError: it cannot be made.
    """
    folder, name = os.path.split(os.fspath(path))
    with contextlib.suppress(OSError):  # a folder may be written that cannot be listed
        _sweep(folder or ".", name)
    handle, part = _locked(os.path.join(folder, f".{name}."))
    try:
        yield part
    finally:
        with contextlib.suppress(OSError):
            os.remove(part)
        os.close(handle)


def is_part(name: str) -> bool:
    """Whether a file of this name is, or was, such a hidden file."""
    return re.fullmatch(r"\..+\.[0-9a-f]{8}\.part", name) is not None


def _locked(start: str) -> tuple[int, str]:
    while True:
        part = f"{start}{secrets.token_hex(4)}.part"
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):  # nothing is removed on file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, part
        os.close(handle)  # removed between the two steps


def _sweep(folder: str, name: str) -> None:
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{8}}\.part")
    for left in filter(pattern.fullmatch, os.listdir(folder)):
        with contextlib.suppress(OSError):  # in use, or somebody else's
            handle = os.open(os.path.join(folder, left), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.remove(os.path.join(folder, left))
            finally:
                os.close(handle)
