import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.numerics import layer_norm, linear


@pytest.mark.parametrize("leading", [[4], [2, 3], [2, 3, 4]])
def test_linear(leading):
    inputs, kernel = tf.random.normal([*leading, 5]), tf.random.normal([5, 6])
    bias = tf.random.normal([6])
    expected = inputs.numpy() @ kernel.numpy()
    np.testing.assert_allclose(linear(inputs, kernel), expected, atol=1e-5)
    np.testing.assert_allclose(linear(inputs, kernel, bias), expected + bias, atol=1e-5)


def test_layer_norm():
    inputs = 3 + 2 * np.random.default_rng(0).standard_normal([2, 4, 6]).astype(np.float32)
    scale, offset = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    mean, deviation = inputs.mean(-1, keepdims=True), inputs.std(-1, keepdims=True)
    expected = (inputs - mean) / deviation * scale + offset
    np.testing.assert_allclose(layer_norm(inputs, scale, offset), expected, atol=1e-5)


def test_layer_norm_of_a_constant_row():
    row = tf.fill([1, 4], 7.0)
    with tf.GradientTape() as tape:
        tape.watch(row)
        outputs = layer_norm(row, tf.ones([4]), tf.zeros([4]))
    np.testing.assert_array_equal(outputs, np.zeros([1, 4]))
    assert np.isfinite(tape.gradient(outputs, row)).all()
