"""Approximate randomisation against all exchanges, and under a hypothesis that is true."""

import itertools

import numpy as np
import pytest

from uanet_tf.metrics.randomization import approximate_randomization
from uanet_tf.metrics.scoring import score_systems
from uanet_tf.metrics.sentence_counts import sentence_counts

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
