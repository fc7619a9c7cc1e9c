"""Pretrained vectors: the formats, what is kept, and faults."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest

from tests.pipes import source
from uanet_tf.data.vectors_file import read_vectors
from uanet_tf.errors import InputError

WORDS = ["the", "naïve", "東京", "cat"]
MATRIX = np.array([[1, -2.5, 0.125], [0, 1e-3, 7], [3, 3, 3], [-0.5, 0, 1e4]], np.float32)


def text(header=False, end="\n"):
    lines = [f"{len(WORDS)} 3"] if header else []
    rows = zip(WORDS, MATRIX, strict=True)
    lines += [f"{word} {' '.join(repr(float(x)) for x in row)}" for word, row in rows]
    return "".join(line + end for line in lines).encode()


def binary(words=None, matrix=MATRIX, between=b"\n", count=None):
    words = [word.encode() for word in WORDS] if words is None else words
    head = f"{len(words) if count is None else count} {matrix.shape[1]}\n".encode()
    rows = zip(words, matrix, strict=True)
    return head + b"".join(
        word + b" " + struct.pack(f"<{len(row)}f", *row) + between for word, row in rows
    )


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("glove.txt", text()),
        ("glove.txt", text(end="\r\n")),
        ("glove.txt", text().rstrip()),
        ("fasttext.vec", text(header=True)),
        ("fasttext.vec", text(header=True, end=" \n")),
        ("google.bin", binary()),
        ("google.bin", binary(between=b"")),
        ("no_suffix", binary()),
        ("no_suffix", text(header=True)),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_formats(tmp_path, name, content, packed):
    path = write(tmp_path, name + ".gz" * packed, gzip.compress(content) if packed else content)
    words, matrix = read_vectors(path, width=3)
    assert words == WORDS
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, MATRIX)


@pytest.mark.parametrize(("name", "content"), [("a.txt", text()), ("a.bin", binary())])
def test_keeps_only_needed_words(tmp_path, name, content):
    path = write(tmp_path, name, content)
    words, matrix = read_vectors(path, width=3, needed={"cat", "naïve", "dog"}.__contains__)
    assert words == ["naïve", "cat"]
    np.testing.assert_array_equal(matrix, MATRIX[[1, 3]])
    words, matrix = read_vectors(path, width=3, needed=lambda word: False)
    assert words == []
    assert matrix.shape == (0, 3)


def test_the_first_of_duplicates_counts(tmp_path):
    path = write(tmp_path, "a.txt", "a 1 1\nb 2 2\na 3 3\n")
    words, matrix = read_vectors(path, width=2)
    assert words == ["a", "b"]
    np.testing.assert_array_equal(matrix, [[1, 1], [2, 2]])
    path = write(tmp_path, "a.bin", binary([b"x", b"y", b"x", b"z"]))
    words, matrix = read_vectors(path, width=3)
    assert words == ["x", "y", "z"]
    np.testing.assert_array_equal(matrix, MATRIX[[0, 1, 3]])


def test_words_with_spaces(tmp_path):
    path = write(tmp_path, "840B.txt", ". . . 1 2\nat me@x.org 3 4\n\u00a0 5 6\na\u2028b 7 8\n")
    words, matrix = read_vectors(path, width=2)
    assert words == [". . .", "at me@x.org", "\u00a0", "a\u2028b"]
    np.testing.assert_array_equal(matrix, [[1, 2], [3, 4], [5, 6], [7, 8]])


def test_words_that_are_numbers(tmp_path):
    path = write(tmp_path, "a.txt", "7 1 2\n1.5 3 4\n")
    assert read_vectors(path, width=2)[0] == ["7", "1.5"]


def test_words_cut_inside_a_character(tmp_path):
    path = write(tmp_path, "a.bin", binary([b"a", b"caf\xc3", b"b", b"c"]))
    words, matrix = read_vectors(path, width=3)
    assert words == ["a", "b", "c"]
    np.testing.assert_array_equal(matrix, MATRIX[[0, 2, 3]])


def test_binary_over_many_chunks(tmp_path):
    matrix = np.random.default_rng(1).normal(size=(3000, 300)).astype(np.float32)
    path = write(tmp_path, "a.bin", binary([b"w%d" % n for n in range(3000)], matrix))
    words, found = read_vectors(path, width=300)
    assert words[-1] == "w2999"
    np.testing.assert_array_equal(found, matrix)


@pytest.mark.parametrize("name", ["a.txt", "a.vec", "a.bin"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_once(tmp_path, name, packed):
    words = [f"w{number}" for number in range(5000)]
    if name == "a.bin":
        content = binary([word.encode() for word in words], np.ones((5000, 3)))
    else:
        content = b"5000 3\n" * (name == "a.vec") + b"".join(
            b"%b 1 1 1\n" % w.encode() for w in words
        )
    with source("gzip fifo" if packed else "fifo", content, tmp_path) as path:
        found, matrix = read_vectors(path, width=3)
    assert found == words
    assert (matrix == 1).all()


def test_streams(tmp_path):
    row = " ".join(["0.25"] * 100)
    path = write(tmp_path, "a.txt", "".join(f"w{n} {row}\n" for n in range(5000)))
    tracemalloc.start()
    try:
        words, _ = read_vectors(path, width=100, needed=lambda word: word == "w4999")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert words == ["w4999"]
    assert peak < 300_000  # the file has 2.5 MB


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", "a 1 2 3\nb 1 2\n", "a.txt:2: expected a word and 3 numbers, found 2"),
        ("a.txt", "a 1 2 3 4\n", "a.txt: its vectors have 4 numbers, but `word_width` is 3"),
        ("a.txt", "a 1 2 3\nb 1 2 3 4 5 6\n", "a.txt:2: expected a word and 3 numbers, found 6"),
        ("a.txt", "a 1 2 3\nb 1 x 3\n", "a.txt:2: not a number: 'x'"),
        ("a.txt", "a 1 2 3\nb 1  3\n", "a.txt:2: not a number: ''"),
        ("a.txt", "a 1 2 3\n\n", "a.txt:2: empty line"),
        ("a.txt", "a 1 2 3\n 1 2 3\n", "a.txt:2: expected a word"),
        ("a.txt", "a 1 nan 3\n", "a.txt:1: the vector of 'a' holds NaN"),
        ("a.txt", "a 1 2 3\nb -inf 2 3\n", "a.txt:2: the vector of 'b'"),
        ("a.txt", "a 1 2 1e39\n", "a.txt:1: the vector of 'a'"),
        ("a.txt", b"a 1 2 3\n\xe9 1 2 3\n", "a.txt:2: not UTF-8"),
        ("a.txt", "", "a.txt: holds no word vectors"),
        ("a.vec", "2 4\na 1 2 3 4\nb 1 2 3 4\n", "a.vec: its vectors have 4 numbers"),
        ("a.txt", ". . 1 2\n. . . 1 2\n", "a.txt: its vectors have 2 numbers"),
        ("a.txt", "hello\n", "a.txt: holds no word vectors"),
        ("a.txt", "a\t1\t2\t3\n", "a.txt: a word and its numbers are separated by blanks, not"),
        ("a.txt", "a\t1 2 3\n", "a.txt: a word and its numbers are separated by blanks, not"),
        ("a.txt", "hello world\n", "a.txt: holds no word vectors"),
        ("a.vec", "9" * 5000 + " 3\na 1 2 3\n", "a.vec:1: a number of more than 15 digits"),
        ("a.vec", "1 " + "3" * 5000 + "\na 1 2 3\n", "a.vec:1: a number of more than 15 digits"),
        ("a.vec", "2 3\na 1 2 3\nb 1 2\n", "a.vec:3: expected"),
        ("a.vec", "2 3\na 1 2 3\n", "a.vec: ends after 1 words, but line 1 promises 2."),
        ("a.vec", "0 3\n", "a.vec: holds no word vectors"),
        ("a.bin", binary()[:-9], "a.bin: word 4: the file ends"),
        ("a.bin", binary(count=5), "a.bin: word 5: the file ends"),
        ("a.bin", binary(matrix=np.ones((4, 2))), "a.bin: its vectors have 2 numbers"),
        ("a.bin", binary(matrix=MATRIX * [[1], [1], [np.nan], [1]]), "a.bin: word 3: the vector"),
        ("a.bin", text(), "a.bin:1: a word2vec binary file must start with"),
        ("a.bin", binary([b"a", b"", b"b", b"c"]), "a.bin: word 2: broken word"),
        ("a.bin", b"9 3\n" + b"\1" * 9000, "a.bin: word 1: no word in 4,096 bytes"),
        ("a.txt.gz", gzip.compress(text() * 50, mtime=0)[:-30], "truncated or damaged"),
        ("a.bin.gz", gzip.compress(binary(), mtime=0)[:-12], "truncated or damaged"),
    ],
)
def test_bad_files(tmp_path, name, content, expected):
    with pytest.raises(InputError) as caught:
        read_vectors(write(tmp_path, name, content), width=3)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_paths_and_arguments(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / "x.txt", width=3)
    with pytest.raises(InputError, match="is a directory"):
        read_vectors(tmp_path, width=3)
    with pytest.raises(InputError, match="Received: 0"):
        read_vectors(tmp_path, width=0)
