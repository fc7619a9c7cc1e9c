"""Marginals against the enumeration of every label sequence."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.chain import chain_marginals
from uanet_tf.ops.graphs import graph_function

LENGTHS, STEPS, CLASSES = [4, 1, 3, 0], 4, 3


def make_arrays(scale=1.0):
    rng = np.random.default_rng(2)
    scores = scale * rng.normal(size=[len(LENGTHS), STEPS, CLASSES])
    transitions = scale * rng.normal(size=[CLASSES, CLASSES])
    mask = np.arange(STEPS) < np.array(LENGTHS)[:, np.newaxis]
    return scores, transitions, mask


def enumerate_marginals(scores, transitions, length):
    """[length, C]: the weights of all C^length sequences, one after another."""
    marginals, total = np.zeros([length, CLASSES]), 0.0
    for path in itertools.product(range(CLASSES), repeat=length):
        score = sum(scores[t][label] for t, label in enumerate(path))
        score += sum(transitions[a][b] for a, b in itertools.pairwise(path))
        weight = math.exp(score)
        total += weight
        for t, label in enumerate(path):
            marginals[t, label] += weight
    return marginals / total


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_equals_enumeration(scale):
    scores, transitions, mask = make_arrays(scale)
    marginals = chain_marginals(tf.constant(scores), tf.constant(transitions), tf.constant(mask))
    for row, length in enumerate(LENGTHS):
        expected = enumerate_marginals(scores[row], transitions, length)
        np.testing.assert_allclose(marginals[row, :length], expected, atol=1e-12)
        np.testing.assert_allclose(marginals[row, length:], 1 / CLASSES)


def test_impossible_transitions():
    scores, transitions, mask = make_arrays()
    transitions[0, 1] = transitions[2, 2] = -1e4
    marginals = chain_marginals(
        tf.constant(scores, tf.float32), tf.constant(transitions, tf.float32), tf.constant(mask)
    )
    for row, length in enumerate(LENGTHS):
        expected = enumerate_marginals(scores[row], transitions, length)
        np.testing.assert_allclose(marginals[row, :length], expected, atol=1e-5)


@pytest.mark.parametrize("in_graph", [False, True])
def test_gradients(in_graph):
    """Against differences of the enumerated marginals."""
    scores, transitions, mask = make_arrays()
    weights = np.random.default_rng(3).normal(size=scores.shape)

    def value(scores, transitions):
        return sum(
            (weights[row, :n] * enumerate_marginals(scores[row], transitions, n)).sum()
            for row, n in enumerate(LENGTHS)
        )

    def gradients(scores, transitions):
        with tf.GradientTape() as tape:
            tape.watch([scores, transitions])
            marginals = chain_marginals(scores, transitions, tf.constant(mask))
            total = tf.reduce_sum(tf.where(mask[..., np.newaxis], weights * marginals, 0.0))
        return tape.gradient(total, [scores, transitions])

    compute = graph_function()(gradients) if in_graph else gradients
    arrays = [scores, transitions]
    for k, found in enumerate(compute(tf.constant(scores), tf.constant(transitions))):
        expected = np.zeros_like(arrays[k])
        for place in np.ndindex(*arrays[k].shape):
            sides = []
            for step in (1e-5, -1e-5):
                moved = [x.copy() for x in arrays]
                moved[k][place] += step
                sides.append(value(*moved))
            expected[place] = (sides[0] - sides[1]) / 2e-5
        np.testing.assert_allclose(found, expected, atol=1e-8)
        assert np.abs(expected).max() > 0.01


def test_is_the_gradient_of_the_partition_function():
    """In a long sentence too, where no path can be enumerated, in float32."""
    rng = np.random.default_rng(4)
    scores = tf.constant(3 * rng.normal(size=[1, 200, CLASSES]), tf.float32)
    transitions = tf.constant(rng.normal(size=[CLASSES, CLASSES]), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(scores)
        alpha = scores[:, 0]
        for t in range(1, 200):
            alpha = scores[:, t] + tf.reduce_logsumexp(alpha[..., tf.newaxis] + transitions, 1)
        log_z = tf.reduce_logsumexp(alpha)
    marginals = chain_marginals(scores, transitions, tf.ones([1, 200], tf.bool))
    np.testing.assert_allclose(marginals, tape.gradient(log_z, scores), atol=1e-4)
    np.testing.assert_allclose(tf.reduce_sum(marginals, -1), 1.0, atol=1e-6)


def test_padding_is_never_looked_at():
    scores, transitions, mask = make_arrays()
    noise = np.where(mask[..., np.newaxis], scores, np.nan)
    one, other = (
        chain_marginals(tf.constant(x), tf.constant(transitions), tf.constant(mask))
        for x in (scores, noise)
    )
    np.testing.assert_array_equal(one, other)


def test_unknown_shapes():
    scores, transitions, mask = make_arrays()
    specs = (
        tf.TensorSpec([None, None, CLASSES], tf.float64),
        tf.TensorSpec([CLASSES, CLASSES], tf.float64),
        tf.TensorSpec([None, None], tf.bool),
    )
    compiled = graph_function(specs)(chain_marginals)
    expected = chain_marginals(tf.constant(scores), tf.constant(transitions), tf.constant(mask))
    np.testing.assert_allclose(compiled(scores, transitions, mask), expected, atol=1e-12)
    np.testing.assert_allclose(
        compiled(scores[2:3, :3], transitions, mask[2:3, :3]), expected[2:3, :3], atol=1e-12
    )
