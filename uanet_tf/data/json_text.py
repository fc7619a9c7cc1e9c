"""The text of a file of JSON, which is one list or an object per line."""

import os
from collections.abc import Iterator
from typing import BinaryIO

from uanet_tf.data import text_lines
from uanet_tf.errors import InputError
from uanet_tf.strict_json import MAX_BYTES

_BEFORE = b"\xef\xbb\xbf \t\r\n"  # what may stand before a list: the order mark and blanks
_PIECE = 1 << 16


def read_json_text(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Iterator[str]:
    """Yields a list as one text, whatever its lines, and anything else line by line.

    Exports of annotation tools are often a list on a single line, which is longer than a line may
    be; the lines of JSON lines keep their limit.

    Args:
      path: a file, may be gzipped; "-" is standard input.
      max_bytes: the most that a list may have.

    Raises:
      InputError: see ``text_lines.read_lines``; or a list of more bytes.
    """
    name = text_lines.display_name(path)
    with text_lines.open_bytes(path) as stream:
        start = _start(stream, name)
        if not start.lstrip(_BEFORE).startswith(b"["):
            lines = text_lines.stream_lines(text_lines.put_back(start, stream), name)
            yield from (line for _, line in lines)
            return
        pieces, size = [start], len(start)
        while piece := text_lines.read_bytes(stream, _PIECE, name):
            pieces.append(piece)
            size += len(piece)
            if size > max_bytes:
                raise InputError(f"{name}: the JSON list has more than {max_bytes:,} bytes.")
    yield text_lines.decode(b"".join(pieces), name).removeprefix("\ufeff")


def _start(stream: BinaryIO, name: str) -> bytes:
    """The first piece of the stream that is not blank, with what precedes it."""
    start = b""
    while piece := text_lines.read_bytes(stream, _PIECE, name):
        start += piece
        if start.lstrip(_BEFORE) or len(start) > text_lines.MAX_LINE_BYTES:
            break
    return start
