import math

import numpy as np
import tensorflow as tf

from uanet_tf.ops.losses import masked_cross_entropy

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
