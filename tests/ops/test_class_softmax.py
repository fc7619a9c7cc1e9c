import numpy as np
import pytest
import scipy.special
import tensorflow as tf

from uanet_tf.ops.graphs import loops_in_blocks
from uanet_tf.ops.losses import class_softmax


@pytest.mark.parametrize("in_blocks", [False, True])
@pytest.mark.parametrize("shape", [[7], [4, 7], [2, 0, 7], [2, 3, 4, 1]])
def test_as_scipy(shape, in_blocks):
    logits = np.random.default_rng(1).normal(scale=30.0, size=shape).astype(np.float32)
    with loops_in_blocks(in_blocks):
        found = class_softmax(tf.constant(logits))
    np.testing.assert_allclose(found, scipy.special.softmax(logits, axis=-1), rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(np.sum(found, axis=-1), 1.0, rtol=1e-6)


def test_large_logits_stay_finite():
    logits = tf.constant([[1e30, -1e30, 0.0], [-1e30, -1e30, -1e30], [3e38, 3e38, -3e38]])
    third = 1 / 3
    expected = [[1.0, 0.0, 0.0], [third, third, third], [0.5, 0.5, 0.0]]
    np.testing.assert_allclose(class_softmax(logits), expected, rtol=1e-6)
