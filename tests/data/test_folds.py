"""Sentences parted into folds."""

import collections

import pytest

from uanet_lite.sentence import Sentence
from uanet_tf.data.documents import fold_numbers
from uanet_tf.errors import InputError


def sentence(number, length=3, new=False):
    return Sentence((f"w{number}",) * length, ("O",) * length, 1 + 4 * number, new)


SENTENCES = [sentence(number, 1 + number % 7, number == 0) for number in range(90)]


def sizes(sentences, folds):
    counts = collections.Counter()
    for each, fold in zip(sentences, folds, strict=True):
        counts[fold] += len(each.tokens)
    return counts


def test_folds_are_of_like_size_and_follow_from_the_seed():
    folds = fold_numbers(SENTENCES, 4, 1)
    counts = sizes(SENTENCES, folds)
    assert sorted(counts) == [0, 1, 2, 3]
    assert max(counts.values()) - min(counts.values()) <= 7
    assert fold_numbers(SENTENCES, 4, 1) == folds
    assert fold_numbers(SENTENCES, 4, 2) != folds
    assert folds[:8] != sorted(folds[:8])


def test_sentences_of_a_document_stay_together():
    parts = [sentence(number, new=number % 5 == 0) for number in range(60)]
    folds = fold_numbers(parts, 3, 1)
    assert all(len(set(folds[start : start + 5])) == 1 for start in range(0, 60, 5))
    assert set(sizes(parts, folds).values()) == {60}


def test_equal_sentences_stay_together():
    folds = fold_numbers([*SENTENCES, *(sentence(k, 1 + k % 7) for k in range(90))], 4, 1)
    assert folds[:90] == folds[90:]


def test_no_fold_is_empty():
    parts = [sentence(0, 500, True), *(sentence(number, 1, True) for number in (1, 2))]
    assert sorted(fold_numbers(parts, 3, 1)) == [0, 1, 2]


def test_too_many_folds():
    with pytest.raises(InputError, match=r"^90 different sentences cannot be parted into 91 folds"):
        fold_numbers(SENTENCES, 91, 1)
    documents = [sentence(number, new=number in (0, 9)) for number in range(20)]
    with pytest.raises(InputError, match=r"^2 documents cannot"):
        fold_numbers(documents, 3, 1)
