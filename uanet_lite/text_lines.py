"""Opening text and binary files that may be gzipped; reading their lines, or one JSON text.

Every fault of the file itself (missing, a directory, truncated gzip, not UTF-8) becomes one
`InputError` here, so that the readers built on top only deal with content.
"""

from __future__ import annotations

import collections
import contextlib
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from uanet_lite.input_error import InputError
from uanet_lite.strict_json import MAX_BYTES

STDIN = "-"
MAX_LINE_BYTES = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"
_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_END_NAMES = {b"\n": "LF", b"\r\n": "CRLF", b"\r": "CR", b"": ""}


def display_name(path: str | os.PathLike[str]) -> str:
    """The name of `path` in messages."""
    name = os.fspath(path) or "''"  # an empty one, of a variable of the shell that is not set
    return "<stdin>" if name == STDIN else name


@contextlib.contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens `path` ("-" is standard input) for reading bytes, unpacking gzip.

    Gzip is known by its first two bytes, not by the file's name. The path may be a pipe: it is
    opened once and read forwards. A caller that looks ahead passes what it read to `put_back`.

    Raises:
        InputError: the file is missing, a directory or not readable.
    """
    with contextlib.ExitStack() as stack:
        if os.fspath(path) != STDIN:
            stream = stack.enter_context(_open_file(path))
        elif sys.stdin is None:  # started with its standard input closed
            raise InputError(f"{display_name(STDIN)}: is closed.")
        else:
            stream = sys.stdin.buffer
        with _read_faults(display_name(path)):
            start = cast(io.BufferedReader, stream).peek(2)[:2]
            if start == GZIP_MAGIC[:1]:  # a pipe may give its bytes one by one
                start = stream.read(2)
                stream = put_back(start, stream)
        if start == GZIP_MAGIC:
            yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream, mode="rb")))
        else:
            yield stream


def put_back(start: bytes, stream: BinaryIO) -> BinaryIO:
    """A stream that gives `start`, which was read from `stream`, and then the rest of it."""
    return cast(BinaryIO, io.BufferedReader(_PutBack(start, stream), 1 << 16))


class _PutBack(io.RawIOBase):
    def __init__(self, start: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._start, self._stream = start, cast(io.BufferedReader, stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._start[: len(buffer)] or self._stream.read1(len(buffer))
        self._start = self._start[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def _open_file(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise InputError(f"{display_name(path)}: no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{display_name(path)}: is a directory, not a file.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{display_name(path)}: cannot be read ({_reason(error)}).") from None


@contextlib.contextmanager
def _read_faults(place: str) -> Iterator[None]:
    """Turns the faults of reading and unpacking into an `InputError` at `place`."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{place}: the gzip data is truncated or damaged ({error}).") from None
    except OSError as error:
        raise InputError(f"{place}: cannot be read ({_reason(error)}).") from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_bytes(stream: BinaryIO, size: int, place: str) -> bytes:
    """Up to `size` bytes of an opened stream; a fault is an `InputError` at `place`."""
    with _read_faults(place):
        return stream.read(size)


def read_line_bytes(stream: BinaryIO, place: str, *, cut: bool = False) -> bytes:
    """The next line with its line end (LF), b"" at the end of the file.

    A line over `MAX_LINE_BYTES` is refused, so that a file without line ends does not fill the
    memory; or, with `cut`, given in pieces of one byte more. Raises an `InputError` at `place`.
    """
    with _read_faults(place):
        raw = stream.readline(MAX_LINE_BYTES + 1)
    if not cut:
        _check_length(raw, place)
    return raw


def read_lines(
    path: str | os.PathLike[str], *, ends: collections.Counter[str] | None = None
) -> Iterator[tuple[int, str]]:
    r"""Yields (1-based line number, text without line end), in constant memory.

    LF, CRLF and a lone CR (old Macs, some releases of CoNLL-2003) end a line, also mixed. U+2028,
    U+0085, vertical tab and form feed are ordinary characters. A first byte order mark is dropped.

    Args:
        path: a file, may be gzipped; "-" is standard input.
        ends: counts the line ends by their names, LF, CRLF and CR.

    Raises:
        InputError: see `open_bytes`; also data that is not UTF-8, a line over `MAX_LINE_BYTES`.
    """
    with open_bytes(path) as stream:
        yield from stream_lines(stream, display_name(path), ends=ends)


def stream_lines(
    stream: BinaryIO, name: str, *, ends: collections.Counter[str] | None = None
) -> Iterator[tuple[int, str]]:
    """As `read_lines`, of an opened stream that messages call `name`."""
    for number, raw in enumerate(_raw_lines(stream, name), start=1):
        line = raw.removesuffix(b"\n").removesuffix(b"\r")
        if ends is not None:
            ends[_END_NAMES[raw[len(line) :]]] += 1
        if number == 1 and _is_utf16(line):
            raise InputError(f"{name}: is UTF-16, not UTF-8: save it as UTF-8.")
        if line.startswith(_UTF8_BOM):
            rest = line[len(_UTF8_BOM) :]
            # Of the file, or of one that was put behind another; but a token of its own stays.
            if number == 1 or not rest or rest[:1].strip():
                line = rest
        yield number, decode(line, f"{name}:{number}")


def _raw_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The lines with their ends."""
    number, begun = 1, b""
    while True:
        place = f"{name}:{number}"
        read = read_line_bytes(stream, place, cut=True)
        lines = (begun + read).splitlines(keepends=True)  # of bytes: LF, CRLF and CR
        # A line without an end may continue, and a CR may be half of a CRLF.
        unfinished = read and lines and not lines[-1].endswith(b"\n")
        begun = lines.pop() if unfinished else b""
        for line in lines:
            _check_length(line, f"{name}:{number}")
            yield line
            number += 1
        _check_length(begun, f"{name}:{number}")
        if not read:
            return


def _is_utf16(line: bytes) -> bool:
    """Whether the first line of a file is UTF-16, which has a mark, or a NUL in each letter."""
    nul = len(line) > 3 and not (any(line[::2]) and any(line[1::2]))
    return nul or line.startswith(_UTF16_BOMS)


def _check_length(line: bytes, place: str) -> None:
    if len(line) > MAX_LINE_BYTES:
        raise InputError(f"{place}: the line is longer than {MAX_LINE_BYTES:,} bytes.")


def decode(raw: bytes, place: str) -> str:
    """The text of bytes in UTF-8; a fault is an `InputError` at `place`."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{place}: not UTF-8 (byte 0x{raw[error.start]:02x} at position {error.start + 1}): "
            "save it as UTF-8."
        ) from None


_BEFORE = b"\xef\xbb\xbf \t\r\n"  # what may stand before JSON: the order mark and blanks
_PIECE = 1 << 16


def read_start(stream: BinaryIO, name: str) -> bytes:
    """The first piece of the stream that is not blank, with what precedes it."""
    start = b""
    while piece := read_bytes(stream, _PIECE, name):
        start += piece
        if start.lstrip(_BEFORE) or len(start) > MAX_LINE_BYTES:
            break
    return start


_JSON = re.compile(
    rb"\{\s*[\"}]|\[\s*[{\[]\s*[\"{\[\]]|\[\s*\"(?:[^\"\\\t\n]|\\.)*(?:\Z|\"\s*,\s*\{)"
)


def looks_like_json(start: bytes) -> bool:
    """Whether a file that starts so is JSON: an object, a list of them or of lists, or a pair."""
    start = start.lstrip(_BEFORE)
    return start.rstrip() == b"[]" or _JSON.match(start) is not None


def json_pieces(
    stream: BinaryIO, name: str, start: bytes, max_bytes: int = MAX_BYTES
) -> Iterator[str]:
    """Yields a list, or an object of several lines, as one text, and anything else line by line.

    Exports of annotation tools are often a list on a single line, which is longer than a line may
    be; the lines of JSON lines keep their limit. The stream gives its first bytes, ``start``, too.

    Raises:
      InputError: see ``read_lines``; or a text of more than ``max_bytes``.
    """
    first, end, _ = start.lstrip(_BEFORE).partition(b"\n")
    of_lines = first.startswith(b"{") and end and not first.rstrip().endswith(b"}")
    if not of_lines and not first.startswith((b"[", b'{"classes"')):  # the second holds a list
        yield from (line for _, line in stream_lines(stream, name))
        return
    pieces, size = [], 0
    while piece := read_bytes(stream, _PIECE, name):
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise InputError(f"{name}: the JSON has more than {max_bytes:,} bytes.")
    yield decode(b"".join(pieces), name).removeprefix("\ufeff")
