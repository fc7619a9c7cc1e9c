"""Fetching a file: complete or not at all, resumed where it was cut off, checksum verified."""

import errno
import hashlib
import os
import pathlib
from collections.abc import Callable, Mapping

from uanet_tf.errors import InputError

CHUNK_BYTES = 1 << 16
ATTEMPTS = 4
TIMEOUT_SECONDS = 30
PART = ".part"
VALIDATOR = ".validator"

Advance = Callable[[int, int | None], object]


def download(
    url: str,
    path: pathlib.Path,
    *,
    sha256: str | None = None,
    advance: Advance = lambda done, total: None,
) -> str:
    """Fetches ``url`` into ``path``; returns the SHA-256 of the file.

    What has arrived is kept in ``path`` + ".part" until all is there, and a further call continues
    from there if the server supports it. Beside it stands the server's mark of the file's version
    (``ETag`` or ``Last-Modified``): of a file that has changed since, no second half is fetched.

    Args:
      url: http or https.
      path: where to; a file that is there already is checked, not fetched.
      sha256: checksum that the file must have; None: unknown.
      advance: called with bytes that are there, and bytes in all (None: unknown).

    Raises:
      InputError: the server cannot be reached or refuses, the checksum is wrong, or the disk is
        full; one sentence.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + PART)
        for attempt in range(1, ATTEMPTS + 1):
            if _fetch(url, part, advance, last=attempt == ATTEMPTS):
                break
        found = file_sha256(part)
        _validator_of(part).unlink(missing_ok=True)
        if sha256 is not None and found != sha256:
            part.unlink()
            raise _wrong_sum(url, sha256, found)
        part.replace(path)
        return found
    found = file_sha256(path)
    if sha256 is not None and found != sha256:
        raise _wrong_sum(str(path), sha256, found)
    return found


def file_sha256(path: pathlib.Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(CHUNK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _fetch(url: str, part: pathlib.Path, advance: Advance, *, last: bool) -> bool:
    """One attempt, from where the last one ended; whether all is there now."""
    import requests  # beside the package's other work it takes a while to import

    done = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"} | (_range(part, done) if done else {})
    try:
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_SECONDS) as answer:
            if done and answer.status_code == requests.codes.requested_range_not_satisfiable:
                if _total_of_range(answer.headers.get("Content-Range", "")) == done:
                    return True
                part.unlink()  # longer than the file that is there now: begin again
                return False
            answer.raise_for_status()
            if answer.status_code != requests.codes.partial_content:
                done = 0
            total = _total(answer, done)
            # Else the last bytes before a cut are lost with the error that reports it.
            answer.raw.enforce_content_length = False
            if not done:
                _keep_validator(part, answer.headers)
            with part.open("ab" if done else "wb") as stream:
                for block in answer.iter_content(CHUNK_BYTES):
                    stream.write(block)
                    done += len(block)
                    advance(done, total)
        if total is None or done >= total:
            return True
        reason = f"cut off after {done:,} of {total:,} bytes"
    except requests.HTTPError as error:
        said = str(error).partition(" for url")[0]
        raise InputError(f"{url}: the server answers {said}.") from None
    except requests.RequestException as error:
        reason = type(error).__name__
    except OSError as error:
        hint = "; what has arrived is kept" if error.errno == errno.ENOSPC else ""
        raise InputError(
            f"{part}: cannot be written ({os.strerror(error.errno or 0)}){hint}."
        ) from None
    if last:
        raise InputError(
            f"{url}: the connection failed ({reason}); the same command continues where it stopped."
        )
    return False


def _validator_of(part: pathlib.Path) -> pathlib.Path:
    return part.with_name(part.name + VALIDATOR)


def _keep_validator(part: pathlib.Path, headers: Mapping[str, str]) -> None:
    """Notes what names the file's version to its server (RFC 9110, If-Range), if anything does."""
    _validator_of(part).unlink(missing_ok=True)
    tag = headers.get("ETag", "")
    validator = tag if tag.startswith('"') else headers.get("Last-Modified", "")
    if validator:
        _validator_of(part).write_text(validator, encoding="latin-1")


def _range(part: pathlib.Path, done: int) -> dict[str, str]:
    """Headers that ask for the rest of a file, or for all of it if it has changed."""
    headers = {"Range": f"bytes={done}-"}
    try:
        return headers | {"If-Range": _validator_of(part).read_text(encoding="latin-1")}
    except FileNotFoundError:
        return headers


def _total(answer: object, done: int) -> int | None:
    headers = answer.headers  # type: ignore[attr-defined]
    length = headers.get("Content-Length")
    # A packed answer's length is not that of its content.
    if length is None or not length.isdecimal() or headers.get("Content-Encoding"):
        return None
    return done + int(length)


def _total_of_range(text: str) -> int | None:
    total = text.rpartition("/")[2]
    return int(total) if total.isdecimal() else None


def _wrong_sum(name: str, expected: str, found: str) -> InputError:
    return InputError(
        f"{name}: has the SHA-256 {found}, not {expected}: damaged, or changed at its home."
    )
