import dataclasses
import itertools

import pytest

from uanet_lite.columns_file import read_corpus
from uanet_lite.sentence import Sentence
from uanet_tf.data.documents import marks_documents, passages


def sentences(*lengths, starts=(0,)):
    return [
        Sentence(("a",) * length, ("O",) * length, 1, number in starts)
        for number, length in enumerate(lengths)
    ]


def grouped(parts, max_tokens):
    return [[len(s.tokens) for s in passage] for passage in passages(parts, max_tokens)]


@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [
        (0, [[3], [2], [4], [1], [9], [2]]),
        (5, [[3, 2], [4, 1], [9], [2]]),
        (6, [[3, 2], [4, 1], [9], [2]]),
        (9, [[3, 2, 4], [1], [9], [2]]),
        (99, [[3, 2, 4, 1, 9, 2]]),
    ],
)
def test_as_many_sentences_as_the_limit_allows(max_tokens, expected):
    assert grouped(sentences(3, 2, 4, 1, 9, 2), max_tokens) == expected


def test_a_passage_ends_with_its_document():
    parts = sentences(3, 2, 4, 1, starts=(0, 1, 3))
    assert grouped(parts, 99) == [[3], [2, 4], [1]]
    assert grouped(parts, 0) == [[3], [2], [4], [1]]
    assert grouped([], 9) == []


def test_sentences_that_become_rows_are_padded_to_a_limit():
    """A long one beside many short ones would take the memory of many long ones."""
    parts = sentences(50, *[1] * 200, starts=(0,))
    assert grouped(parts, 250) == [[50, *[1] * 200]]
    found = list(passages(parts, 250, padded=True))
    assert [len(passage) for passage in found] == [80, 121]  # 80 * 50 = 16 * 250
    last = dataclasses.replace(parts[0], new_document=False)
    back = list(passages([*parts[1:], last], 250, padded=True))
    assert [len(passage) for passage in back] == [200, 1]


def test_sentences_are_read_as_needed_and_full_passages_given_at_once():
    read = []

    def stream():
        for sentence in sentences(*[2] * 9):
            read.append(sentence)
            yield sentence

    assert len(list(itertools.islice(passages(stream(), 4), 2))) == 2
    assert len(read) == 4
    read.clear()
    next(passages(stream(), 0))
    assert len(read) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a O\n\nb O\n", False),
        ("-DOCSTART- O\n\na O\n\nb O\n", False),
        ("-DOCSTART- O\n\na O\n\n-DOCSTART- O\n\nb O\n", True),
        ("a O\n\n#begin document (x)\nb O\n", True),
    ],
)
def test_a_file_that_tells_documents_apart(tmp_path, text, expected):
    path = tmp_path / "file.conll"
    path.write_text(text)
    assert marks_documents(read_corpus(path)) == expected
