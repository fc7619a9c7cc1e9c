"""Intervals and significance by resampling."""

import itertools

import numpy as np
import pytest

from uanet_tf.metrics.resampling import approximate_randomization, f1_difference_error, f1_interval
from uanet_tf.metrics.scoring import score_systems, sentence_counts


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


GOLD = [["B-PER", "I-PER", "O"], ["O"], ["B-LOC", "O", "B-ORG"]]
GIVEN = [["B-PER", "O", "O"], ["B-LOC"], ["S-LOC", "O", "B-ORG"]]


def f1(counts):
    right, predicted, gold = counts.sum(0)
    return 2 * right / max(predicted + gold, 1)


def random_counts(generator, gold, quality):
    right = generator.binomial(gold, quality)
    predicted = right + generator.binomial(gold, 0.2)
    return np.stack([right, predicted, gold], axis=1)


def test_counts_of_a_sentence():
    counts = sentence_counts(GOLD, GIVEN, task="ner")
    assert counts.tolist() == [[0, 1, 1], [0, 1, 0], [2, 2, 2]]
    scored = score_systems(GOLD, task="ner", given=GIVEN)["given"]["f1"]
    assert 100 * f1(counts) == pytest.approx(scored, abs=1e-9)
    tokens = sentence_counts(GOLD, GIVEN, task="pos")
    assert tokens.tolist() == [[2, 3, 3], [0, 1, 1], [2, 3, 3]]


def test_equals_all_exchanges():
    generator = np.random.default_rng(3)
    gold = generator.integers(0, 4, 10)
    left, right = random_counts(generator, gold, 0.5), random_counts(generator, gold, 0.9)
    observed = abs(f1(left) - f1(right))
    reached = 0
    for swapped in itertools.product([False, True], repeat=10):
        chosen = np.array(swapped)[:, np.newaxis]
        one, other = np.where(chosen, right, left), np.where(chosen, left, right)
        reached += abs(f1(one) - f1(other)) >= observed - 1e-12
    found = approximate_randomization(left, right, rounds=20_000)
    assert found == pytest.approx(reached / 2**10, abs=0.01)


def test_p_is_uniform_where_the_taggers_are_alike():
    generator = np.random.default_rng(4)
    gold = generator.integers(0, 4, 200)
    found = [
        approximate_randomization(
            random_counts(generator, gold, 0.7), random_counts(generator, gold, 0.7), rounds=200
        )
        for _ in range(300)
    ]
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.05)
    assert np.mean(found) == pytest.approx(0.5, abs=0.06)


def test_the_same_answers_and_a_clear_difference():
    generator = np.random.default_rng(5)
    gold = generator.integers(0, 4, 300)
    left, right = random_counts(generator, gold, 0.5), random_counts(generator, gold, 0.8)
    assert approximate_randomization(left, left, rounds=100) == 1.0
    assert approximate_randomization(left, right, rounds=999) == 0.001


def test_other_sentences():
    left = sentence_counts(GOLD, GIVEN, task="ner")
    with pytest.raises(ValueError, match="not of the same sentences and seeds"):
        approximate_randomization(left, left[:2])
    with pytest.raises(ValueError, match="not of the same sentences and seeds"):
        approximate_randomization(left, 2 * left)
