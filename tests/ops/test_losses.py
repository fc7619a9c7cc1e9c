import math

import numpy as np
import pytest
import scipy.special
import tensorflow as tf

from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.losses import (
    class_softmax,
    entropy,
    expectation_linear_penalty,
    masked_cross_entropy,
    mutual_information,
)


@pytest.mark.parametrize("lite", [None, LiteGraph()])
@pytest.mark.parametrize("shape", [[7], [4, 7], [2, 0, 7], [2, 3, 4, 1]])
def test_as_scipy(shape, lite):
    logits = np.random.default_rng(1).normal(scale=30.0, size=shape).astype(np.float32)
    found = class_softmax(tf.constant(logits), lite)
    np.testing.assert_allclose(found, scipy.special.softmax(logits, axis=-1), rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(np.sum(found, axis=-1), 1.0, rtol=1e-6)


def test_large_logits_stay_finite():
    logits = tf.constant([[1e30, -1e30, 0.0], [-1e30, -1e30, -1e30], [3e38, 3e38, -3e38]])
    third = 1 / 3
    expected = [[1.0, 0.0, 0.0], [third, third, third], [0.5, 0.5, 0.0]]
    np.testing.assert_allclose(class_softmax(logits), expected, rtol=1e-6)


LABELS = np.array([[1, 0, 2], [2, 1, 1]])
MASK = np.array([[True, True, True], [True, False, False]])


def make_logits():
    return np.random.default_rng(5).normal(size=[2, 3, 4]).astype(np.float32)


def test_equals_loops():
    logits = make_logits()
    expected = 0.0
    for row, step in zip(*np.nonzero(MASK), strict=True):
        total = sum(math.exp(x) for x in logits[row, step])
        expected -= math.log(math.exp(logits[row, step, LABELS[row, step]]) / total)
    loss = masked_cross_entropy(logits, LABELS, MASK)
    assert loss.shape == []
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_uniform_logits_cost_log_c_a_token():
    loss = masked_cross_entropy(np.zeros([2, 3, 4], np.float32), LABELS, MASK)
    np.testing.assert_allclose(loss, 4 * math.log(4), rtol=1e-6)


def test_padding_has_neither_value_nor_gradient():
    logits, other = make_logits(), make_logits()
    other[~MASK] = 1e4
    labels = np.where(MASK, LABELS, 3)
    results = []
    for values, targets in ((logits, LABELS), (other, labels)):
        values = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(values)
            loss = masked_cross_entropy(values, targets, MASK)
        results.append((loss, tape.gradient(loss, values)))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    assert (results[0][1].numpy()[~MASK] == 0).all()


def test_half_precision_logits_are_summed_in_float32():
    loss = masked_cross_entropy(tf.zeros([2, 3, 4], tf.bfloat16), LABELS, MASK)
    assert loss.dtype == tf.float32
    np.testing.assert_allclose(loss, 4 * math.log(4), rtol=1e-6)


def test_an_empty_batch_costs_nothing():
    assert float(masked_cross_entropy(make_logits(), LABELS, np.zeros_like(MASK))) == 0.0


def reference_entropy(distribution) -> float:
    return -sum(p * math.log(p) for p in distribution if p > 0)


def random_distributions(*shape: int) -> np.ndarray:
    scores = 3 * np.random.default_rng(6).standard_normal(shape)
    return tf.nn.softmax(scores).numpy()


def test_entropy_equals_brute_force():
    p = random_distributions(2, 3, 5)
    expected = [[reference_entropy(distribution) for distribution in row] for row in p]
    np.testing.assert_allclose(entropy(tf.constant(p)), expected, rtol=1e-9)


def test_entropy_of_known_distributions():
    """In nats: uniform gives log C, certainty gives 0."""
    p = tf.constant([[0.25] * 4, [0, 1, 0, 0], [0.5, 0, 0.5, 0], [1e-45, 1, 0, 0]])
    np.testing.assert_allclose(entropy(p), [math.log(4), 0, math.log(2), 0], rtol=1e-6, atol=1e-7)


def test_gradient_of_entropy():
    p = tf.constant([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    with tf.GradientTape() as tape:
        tape.watch(p)
        total = tf.reduce_sum(entropy(p))
    gradient = tape.gradient(total, p).numpy()
    np.testing.assert_allclose(gradient[0], [0, -1, 0])
    np.testing.assert_allclose(gradient[1], [-math.log(x) - 1 for x in (0.2, 0.3, 0.5)], 1e-5)


def test_gradient_through_a_saturated_softmax():
    logits = tf.constant([[200.0, 0.0, -300.0]])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        total = tf.reduce_sum(entropy(tf.nn.softmax(logits)))
    assert np.isfinite(tape.gradient(total, logits)).all()


def test_mutual_information_equals_brute_force():
    samples = random_distributions(4, 2, 3, 5)
    expected = np.zeros([2, 3])
    for row in range(2):
        for column in range(3):
            cell = samples[:, row, column]
            expected[row, column] = reference_entropy(cell.mean(axis=0)) - np.mean(
                [reference_entropy(distribution) for distribution in cell]
            )
    actual = mutual_information(tf.constant(samples))
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
    assert (actual.numpy() > 0).all()


def test_samples_that_agree_have_no_mutual_information():
    one = random_distributions(50, 9).astype(np.float32)
    information = mutual_information(tf.constant(np.stack([one] * 7))).numpy()
    assert (information >= 0).all()
    np.testing.assert_allclose(information, 0, atol=1e-6)


def test_samples_that_contradict_each_other():
    """Each sample certain of another label: the whole uncertainty is epistemic."""
    samples = tf.eye(3)
    assert float(mutual_information(samples)) == pytest.approx(math.log(3), rel=1e-6)


RNG = np.random.default_rng(1)
DROPPED, PLAIN = RNG.normal(size=[2, 2, 3, 4, 5]).astype(np.float32)
TOKENS = np.arange(4) < np.array([[4], [2], [0]])


def test_equals_a_sum_over_tokens():
    expected = 0.0
    for k, b, t in np.ndindex(2, 3, 4):
        if TOKENS[b, t]:
            expected += 0.5 * np.sum((DROPPED[k, b, t] - PLAIN[k, b, t]) ** 2)
    assert float(expectation_linear_penalty(DROPPED, PLAIN, TOKENS)) == pytest.approx(
        expected, 1e-5
    )
    whole = 0.5 * np.sum((DROPPED - PLAIN) ** 2)
    assert float(expectation_linear_penalty(DROPPED, PLAIN)) == pytest.approx(whole, 1e-5)


def test_both_sides_get_gradients_and_padding_none():
    dropped, plain = tf.constant(DROPPED), tf.constant(PLAIN)
    with tf.GradientTape() as tape:
        tape.watch([dropped, plain])
        loss = expectation_linear_penalty(dropped, plain, TOKENS)
    one, other = tape.gradient(loss, [dropped, plain])
    np.testing.assert_allclose(one, -other)
    np.testing.assert_allclose(one, np.where(TOKENS[..., None], DROPPED - PLAIN, 0), atol=1e-6)
