"""Reading pretrained word vectors: GloVe and fastText text, word2vec binary, gzipped or not.

* text: a word, then `width` numbers, separated by single spaces; fastText and word2vec put a line
  "count width" first. GloVe 840B has words that hold spaces: the last `width` fields are numbers.
* binary: a line "count width", then for each word its bytes, a space and `width` little-endian
  float32 numbers, and in some files a line feed.

Source: https://github.com/stanfordnlp/GloVe, https://fasttext.cc/docs/en/english-vectors.html, and
`word2vec.c` of https://code.google.com/archive/p/word2vec.
"""

from __future__ import annotations

import collections
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np

from uanet_lite.strict_json import shown
from uanet_lite.text_lines import (
    display_name,
    open_bytes,
    put_back,
    read_bytes,
    read_line_bytes,
    stream_lines,
)
from uanet_tf.errors import InputError

_HEADER = re.compile(rb"([0-9]+) ([0-9]+)[ \t]*\r?\n")
_SNIFFED_BYTES = 4_096
_SNIFFED_LINES = 20
_CHUNK_BYTES = 1 << 20
_MAX_WORD_BYTES = 4_096
_MAX_HEADER_DIGITS = 15
_CONTROL_BYTES = frozenset(range(9)) | frozenset(range(14, 32))


def read_vectors(
    path: str | os.PathLike[str], *, width: int, needed: Callable[[str], bool] | None = None
) -> tuple[list[str], np.ndarray]:
    """The words in the order of the file, the first of duplicates, and float32 [words, width].

    The file is read as a stream, and only words that are ``needed`` take memory (None: all); the
    numbers of others are not parsed.

    Raises:
      InputError: an unreadable or empty file, another width, a broken line, NaN or infinity; it
        names the line, or for binary files the number of the word.
    """
    if width < 1:
        raise InputError(f"width must be at least 1. Received: {width}.")
    name = display_name(path)
    collector = _Collector(width, needed)
    with open_bytes(path) as stream:
        header, binary, stream = _sniff(stream, name)
        if header is not None and header.width != width:
            raise _other_width(name, header.width, width)
        if header is not None and binary:
            read = _read_binary(stream, name, header.words, width, collector)
        else:
            lines = _after_checks(stream_lines(stream, name), name, width, header)
            read = _read_text(lines, name, width, collector)
    if header is not None and read < header.words:
        raise InputError(
            f"{name}: ends after {read:,} words, but line 1 promises {header.words:,}."
        )
    if not read:
        raise InputError(f"{name}: holds no word vectors.")
    return collector.words, collector.matrix()


class _Header(NamedTuple):
    words: int
    width: int


def _sniff(stream: BinaryIO, name: str) -> tuple[_Header | None, bool, BinaryIO]:
    """The header, if any; whether the vectors are binary; the stream from its start."""
    first = read_line_bytes(stream, f"{name}:1")
    header = _HEADER.fullmatch(first)
    if header is None:
        if name.removesuffix(".gz").endswith(".bin"):
            raise InputError(
                f"{name}:1: a word2vec binary file must start with a line 'count width'."
            )
        return None, False, put_back(first, stream)
    if max(map(len, header.groups())) > _MAX_HEADER_DIGITS:
        raise InputError(f"{name}:1: a number of more than {_MAX_HEADER_DIGITS} digits.")
    body = read_bytes(stream, _SNIFFED_BYTES, f"{name}:2")
    # float32 numbers hold such bytes within a vector or two; text never does.
    binary = any(byte in _CONTROL_BYTES for byte in body)
    return _Header(int(header[1]), int(header[2])), binary, put_back(first + body, stream)


def _after_checks(
    lines: Iterator[tuple[int, str]], name: str, width: int, header: _Header | None
) -> Iterator[tuple[int, str]]:
    """All lines that hold vectors, after a check of the width of the first ones."""
    if header is not None:
        next(lines)
        return lines
    peeked = list(itertools.islice(lines, _SNIFFED_LINES))
    found = _width_of([line for _, line in peeked])
    if found != width and any("\t" in line.strip() for _, line in peeked):
        raise InputError(f"{name}: a word and its numbers are separated by blanks, not by tabs.")
    if found == 0:
        raise InputError(f"{name}: holds no word vectors.")
    if found != width:
        raise _other_width(name, found, width)
    return itertools.chain(peeked, lines)


def _width_of(lines: Sequence[str]) -> int:
    """How many numbers end most of the lines."""
    widths: collections.Counter[int] = collections.Counter()
    for line in lines:
        fields = line.rstrip(" ").split(" ")[1:]
        widths[sum(1 for _ in itertools.takewhile(_is_number, reversed(fields)))] += 1
    return widths.most_common(1)[0][0] if widths else 0


def _other_width(name: str, found: int, width: int) -> InputError:
    return InputError(f"{name}: its vectors have {found} numbers, but `word_width` is {width}.")


class _Collector:
    """Gathers words and vectors; rows are appended to one buffer, never copied again."""

    def __init__(self, width: int, needed: Callable[[str], bool] | None) -> None:
        self.words: list[str] = []
        self._width = width
        self._needed = needed
        self._seen: set[str] = set()
        self._buffer = bytearray()

    def wants(self, word: str) -> bool:
        return word not in self._seen and (self._needed is None or self._needed(word))

    def add(self, word: str, vector: np.ndarray, place: str) -> None:
        if not np.isfinite(vector).all():
            raise InputError(
                f"{place}: the vector of {shown(word)} holds NaN, infinity or a number too large."
            )
        self._seen.add(word)
        self.words.append(word)
        self._buffer += vector.tobytes()

    def matrix(self) -> np.ndarray:
        return np.frombuffer(self._buffer, np.float32).reshape(len(self.words), self._width)


def _read_text(
    lines: Iterator[tuple[int, str]], name: str, width: int, collector: _Collector
) -> int:
    read = 0
    for number, line in lines:
        place = f"{name}:{number}"
        line = line.rstrip(" ")
        # Most lines hold a word without spaces and one that is not needed: split only the others.
        plain = line.count(" ") == width and not line.startswith(" ")
        word = line[: line.index(" ")] if plain else _spaced_word(line, width, place)
        read += 1
        if not collector.wants(word):
            continue
        numbers = line.rsplit(" ", width)[1:]
        try:
            with np.errstate(over="ignore"):
                vector = np.array([float(text) for text in numbers], np.float32)
        except ValueError:
            broken = next(text for text in numbers if not _is_number(text))
            raise InputError(f"{place}: not a number: {shown(broken)}.") from None
        collector.add(word, vector, place)
    return read


def _spaced_word(line: str, width: int, place: str) -> str:
    """The word of a line that has not exactly `width` spaces."""
    word, *numbers = line.rsplit(" ", width)
    # A "word" that is a word and numbers is the line of a wider vector.
    wider = all(_is_number(field) for field in word.split(" ")[1:])
    if len(numbers) == width and word and not wider:
        return word
    if not line.strip():
        raise InputError(f"{place}: empty line where a word and {width} numbers are expected.")
    word, *numbers = line.split(" ")
    raise InputError(
        f"{place}: expected a word and {width} numbers, found {len(numbers)} fields after "
        f"{word[:30]!r}."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_binary(stream: BinaryIO, name: str, count: int, width: int, collector: _Collector) -> int:
    read_line_bytes(stream, f"{name}:1")  # the header
    read = 0
    for raw_word, numbers in _binary_entries(stream, count, width, name):
        read += 1
        try:
            word = raw_word.decode("utf-8")
        except UnicodeDecodeError:
            # word2vec.c cuts long words at a byte: such a word cannot be a word of a text.
            continue
        if collector.wants(word):
            vector = np.frombuffer(numbers, "<f4").astype(np.float32)
            collector.add(word, vector, f"{name}: word {read}")
    return read


def _binary_entries(
    stream: BinaryIO, count: int, width: int, name: str
) -> Iterator[tuple[bytes, bytes]]:
    """(word, numbers) of each entry, read through a buffer of about 1 MB."""
    buffer, position = b"", 0
    for number in range(1, count + 1):
        place = f"{name}: word {number}"
        while True:
            space = buffer.find(b" ", position)
            if space >= 0 and len(buffer) - space - 1 >= 4 * width:
                break
            if space < 0 and len(buffer) - position > _MAX_WORD_BYTES:
                raise InputError(f"{place}: no word in {_MAX_WORD_BYTES:,} bytes; wrong width?")
            chunk = read_bytes(stream, _CHUNK_BYTES, place)
            if not chunk:
                raise InputError(f"{place}: the file ends, but line 1 promises {count:,} words.")
            buffer, position = buffer[position:] + chunk, 0
        word = buffer[position:space].lstrip(b"\n")
        if not word or len(word) > _MAX_WORD_BYTES:
            raise InputError(f"{place}: broken word of {len(word):,} bytes; wrong width?")
        position = space + 1 + 4 * width
        yield word, buffer[space + 1 : position]
