"""Fetching a file: complete or not at all, from where a connection was lost, checksum verified."""

import hashlib
import os
import pathlib
from collections.abc import Callable, Mapping

from uanet_lite.atomic_file import atomic_file
from uanet_tf.errors import InputError

CHUNK_BYTES = 1 << 16
ATTEMPTS = 4
TIMEOUT_SECONDS = 30

Advance = Callable[[int, int | None], object]


def download(
    url: str,
    path: pathlib.Path,
    *,
    sha256: str | None = None,
    advance: Advance = lambda done, total: None,
) -> str:
    """Fetches ``url`` into ``path``; returns the SHA-256 of the file.

    Args:
      url: http or https.
      path: where to; a file that is there already is checked, not fetched.
      sha256: checksum that the file must have; None: unknown.
      advance: called with bytes that are there, and bytes in all (None: unknown).

    Raises:
      InputError: the server cannot be reached or refuses, the checksum is wrong, or the disk is
        full; one sentence.
    """
    if path.exists():
        return _checked(path, sha256, str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as part:
            _fetch(url, pathlib.Path(part), advance)
            return _checked(pathlib.Path(part), sha256, url)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({os.strerror(error.errno or 0)}).") from None


def _checked(path: pathlib.Path, expected: str | None, name: str) -> str:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if expected is not None and found != expected:
        raise InputError(
            f"{name}: has the SHA-256 {found}, not {expected}: damaged, or changed at its home."
        )
    return found


def _fetch(url: str, part: pathlib.Path, advance: Advance) -> None:
    """Goes on where a connection was lost, if the server can, and has the same file still."""
    import requests  # beside the package's other work it takes a while to import

    done, validator, reason = 0, "", ""
    for _ in range(ATTEMPTS):
        headers = {"Accept-Encoding": "identity"}
        if done and validator:
            headers |= {"Range": f"bytes={done}-", "If-Range": validator}
        try:
            with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
                answer.raise_for_status()
                if answer.status_code != requests.codes.partial_content:
                    done, validator = 0, _validator(answer.headers)
                total = _total(answer.headers, done)
                # Else the last bytes before a cut are lost with the error that reports it.
                answer.raw.enforce_content_length = False
                with part.open("ab" if done else "wb") as stream:
                    for block in answer.iter_content(CHUNK_BYTES):
                        stream.write(block)
                        done += len(block)
                        advance(done, total)
            if total is None or done >= total:
                return
            reason = f"cut off after {done:,} of {total:,} bytes"
        except requests.HTTPError as error:
            said = str(error).partition(" for url")[0]
            raise InputError(f"{url}: the server answers {said}.") from None
        except requests.RequestException as error:
            reason = type(error).__name__
    raise InputError(f"{url}: the connection failed ({reason}).")


def _validator(headers: Mapping[str, str]) -> str:
    """What names the file's version to its server (RFC 9110, If-Range); "" if nothing does."""
    tag = headers.get("ETag", "")
    return tag if tag.startswith('"') else headers.get("Last-Modified", "")


def _total(headers: Mapping[str, str], done: int) -> int | None:
    length = headers.get("Content-Length")
    # A packed answer's length is not that of its content.
    if length is None or not length.isdecimal() or headers.get("Content-Encoding"):
        return None
    return done + int(length)
