import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.losses import expectation_linear_penalty

RNG = np.random.default_rng(1)
DROPPED, PLAIN = RNG.normal(size=[2, 2, 3, 4, 5]).astype(np.float32)
MASK = np.arange(4) < np.array([[4], [2], [0]])


def test_equals_a_sum_over_tokens():
    expected = 0.0
    for k, b, t in np.ndindex(2, 3, 4):
        if MASK[b, t]:
            expected += 0.5 * np.sum((DROPPED[k, b, t] - PLAIN[k, b, t]) ** 2)
    assert float(expectation_linear_penalty(DROPPED, PLAIN, MASK)) == pytest.approx(expected, 1e-5)
    whole = 0.5 * np.sum((DROPPED - PLAIN) ** 2)
    assert float(expectation_linear_penalty(DROPPED, PLAIN)) == pytest.approx(whole, 1e-5)


def test_both_sides_get_gradients_and_padding_none():
    dropped, plain = tf.constant(DROPPED), tf.constant(PLAIN)
    with tf.GradientTape() as tape:
        tape.watch([dropped, plain])
        loss = expectation_linear_penalty(dropped, plain, MASK)
    one, other = tape.gradient(loss, [dropped, plain])
    np.testing.assert_allclose(one, -other)
    np.testing.assert_allclose(one, np.where(MASK[..., None], DROPPED - PLAIN, 0), atol=1e-6)
