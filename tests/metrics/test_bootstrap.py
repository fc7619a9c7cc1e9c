import numpy as np
import pytest

from uanet_tf.metrics.bootstrap import f1_difference_error, f1_interval


def test_an_interval_of_accuracy_is_that_of_a_share():
    right = np.zeros([400], np.int64)
    right[:300] = 1  # one token in each sentence
    ones = np.ones_like(right)
    low, high = f1_interval(np.stack([right, ones, ones], axis=1))
    half = 100 * 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (low, high) == pytest.approx((75 - half, 75 + half), abs=0.5)


def test_tokens_of_one_sentence_are_drawn_together():
    """Four alike in each of a hundred sentences say no more than one in each."""
    right = np.repeat([1, 0], [75, 25])
    ones = np.ones_like(right)
    single = f1_interval(np.stack([right, ones, ones], axis=1))
    assert f1_interval(4 * np.stack([right, ones, ones], axis=1)) == pytest.approx(single)


def test_it_holds_the_truth_nineteen_times_in_twenty():
    random = np.random.default_rng(1)
    truth = 200 * 0.6 / (0.8 + 0.9)
    held = 0
    for _ in range(200):
        gold = random.binomial(3, 0.9 / 3, [300])
        right = random.binomial(gold, 0.6 / 0.9)
        predicted = right + random.poisson(0.2, [300])
        low, high = f1_interval(np.stack([right, predicted, gold], axis=1), samples=200)
        held += low <= truth <= high
    assert 180 <= held <= 199


def test_sentences_without_items_change_nothing():
    counts = np.array([[1, 2, 1], [0, 1, 1], [2, 2, 2]])
    padded = np.concatenate([counts, np.zeros([50, 3], np.int64)])
    assert f1_interval(padded) == f1_interval(counts)
    with pytest.raises(ValueError, match="no items"):
        f1_interval(padded[3:])


def test_the_error_of_a_difference_is_that_of_its_formula():
    """Accuracy: the difference of a sentence is 1, 0 or -1, so its variance is known."""
    left, right = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], [60, 40, 200, 100], axis=0).T
    ones = np.ones_like(left)
    counts = [np.stack([side, ones, ones], axis=1) for side in (left, right)]
    expected = 100 * np.sqrt(((60 + 40) / 400 - (20 / 400) ** 2) / 400)
    assert f1_difference_error(*counts, samples=4000) == pytest.approx(expected, rel=0.05)


def test_equal_labels_differ_by_nothing():
    counts = np.array([[1, 2, 1], [0, 1, 1], [2, 2, 2]])
    assert f1_difference_error(counts, counts) == 0.0
    assert f1_difference_error(0 * counts, 0 * counts) == 0.0
