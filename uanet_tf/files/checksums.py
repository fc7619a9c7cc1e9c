"""SHA-256 of the files of an exported version, to find files that were changed later.

The list has the format of ``sha256sum``: ``sha256sum -c assets.extra/SHA256SUMS``, in the folder of
the version, checks it too. It finds damage. It is no signature: a person who can change a file can
change the list.
"""

import hashlib
import os
import pathlib
import re

from uanet_lite.strict_json import MAX_BYTES, read_bytes, shown
from uanet_tf.errors import InputError

CHECKSUMS = "assets.extra/SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def write_checksums(folder: pathlib.Path) -> None:
    """Writes the list of all files below ``folder``, which has an ``assets.extra``."""
    lines = [f"{_sha256(folder / file)}  {file}\n" for file in sorted(_files(folder))]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")


def check_checksums(folder: pathlib.Path) -> None:
    """Raises InputError for a file of the list that is missing or was changed, or a damaged list.

    A folder without a list is not checked.
    """
    path = folder / CHECKSUMS
    if not path.exists():
        return
    try:
        text = read_bytes(path, MAX_BYTES).decode("utf-8")
        # Only what is found in the folder is read: a list may name any path.
        found = set(_files(folder))
        for line in text.splitlines():
            match = _LINE.fullmatch(line)
            if match is None:
                raise InputError(f"{path}: is damaged, or was not written to its end.")
            digest, file = match.groups()
            if file not in found:
                raise InputError(f"{folder}: lacks {shown(file)}, which {CHECKSUMS} lists.")
            if _sha256(folder / file) != digest:
                other = f"{CHECKSUMS} has another sum"
                raise InputError(f"{folder / file}: is not what was exported: {other}.")
    except OSError as error:
        raise InputError(f"{error.filename or path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is damaged: it is not UTF-8.") from None


def _files(folder: pathlib.Path) -> list[str]:
    """Regular files below ``folder``, relative to it, with "/"."""
    return [
        path.relative_to(folder).as_posix()
        for root, _, names in os.walk(folder)
        for path in (pathlib.Path(root, name) for name in names)
        if path.is_file()
    ]


def _sha256(path: pathlib.Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
