import dataclasses
import json

import pytest

from uanet_lite.tag_schemes import SCHEMES, convert
from uanet_tf.data.vocabulary import Vocabulary, class_labels, count_chars, count_symbols

VOCABULARY = Vocabulary(
    words=("the", "東京", 'quo"te'),
    word_counts=(3, 2, 0),
    chars=("e", "東", "🙂"),
    labels=("O", "B-PER", "I-PER", "E-PER", "S-PER"),
    scheme="IOB2",
)


def test_words_by_frequency_then_alphabet():
    counts = {"b": 2, "a": 2, "c": 5, "d": 1}
    assert count_symbols(counts) == (["c", "a", "b", "d"], [5, 2, 2, 1])
    assert count_symbols(counts, min_count=2) == (["c", "a", "b"], [5, 2, 2])
    assert count_symbols({}) == ([], [])


def test_characters_by_frequency_then_code():
    assert count_chars({"aab": 3, "🙂c": 7, "c": 1}) == ["c", "🙂", "a", "b"]
    assert count_chars({}) == []


def test_labels_that_are_not_chunks():
    assert class_labels([["NN", "VB"], ["NN"], ["DT"]], None) == ["NN", "DT", "VB"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_chunk_classes_do_not_depend_on_the_scheme(scheme):
    """All four prefixes of each type, most frequent first; spans count, not tokens."""
    sentences = [["B-LOC", "I-LOC", "I-LOC", "O"], ["B-PER", "B-PER", "O"]]
    sentences = [convert(labels, "IOB2", scheme) for labels in sentences]
    expected = ["O"] + [f"{prefix}-{name}" for name in ("PER", "LOC") for prefix in "BIES"]
    assert class_labels(sentences, scheme) == expected


def test_types_may_hold_hyphens():
    assert class_labels([["B-weapon-missile"]], "IOB2")[1] == "B-weapon-missile"


def test_chunks_without_types():
    """The classes are those that the training labels become in BIOES."""
    labels = class_labels([["B", "I", "O", "B"]], "IOB2")
    assert labels == ["O", "B", "I", "E", "S"]
    assert set(convert(["B", "I", "O", "B"], "IOB2", "BIOES")) <= set(labels)


def test_no_chunks_at_all():
    assert class_labels([["O", "O"]], "IOB2") == ["O"]


@pytest.mark.parametrize("scheme", ["IOB2", None])
def test_round_trip(scheme):
    vocabulary = dataclasses.replace(VOCABULARY, scheme=scheme)
    assert Vocabulary.from_dict(json.loads(vocabulary.to_json())) == vocabulary
    assert Vocabulary.from_dict(vocabulary.to_dict()) == vocabulary
