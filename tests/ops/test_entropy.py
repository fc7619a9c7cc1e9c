import math

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.losses import entropy, mutual_information


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
