import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.attention import position_heads, position_keys, relative_sinusoid, sinusoid
from uanet_tf.ops.graphs import position_tables

WIDTH = 6
KERNEL = tf.constant(np.random.default_rng(1).normal(size=[WIDTH, 4]), tf.float32)


@pytest.mark.parametrize("length", [1, 2, 7])
def test_of_a_table_they_are_the_same(length):
    sinusoids = relative_sinusoid(length, WIDTH)
    expected = np.asarray(sinusoids) @ KERNEL.numpy()
    np.testing.assert_allclose(
        position_keys(KERNEL, sinusoids, length).numpy().T, expected, atol=1e-5
    )
    for longest in (length, length + 3):
        with position_tables(longest):
            keys = position_keys(KERNEL, sinusoids, tf.constant(length))
        np.testing.assert_allclose(keys.numpy().T, expected, atol=1e-5)


def test_larger_distances_count_as_the_largest():
    with position_tables(3):
        keys = position_keys(KERNEL, relative_sinusoid(5, WIDTH), 5)
    distances = tf.constant([2, 2, 2, 1, 0, -1, -2, -3, -3, -3])  # from 4 down to -5
    expected = sinusoid(distances, WIDTH).numpy() @ KERNEL.numpy()
    np.testing.assert_allclose(keys.numpy().T, expected, atol=1e-5)


@pytest.mark.parametrize("longest", [0, 3, 5, 9])
def test_rows_of_heads_are_the_same(longest):
    sinusoids = relative_sinusoid(5, WIDTH)
    with position_tables(longest):
        keys = position_keys(KERNEL, sinusoids, 5)
        heads = position_heads(KERNEL, sinusoids, tf.constant(5), 2)
    expected = np.reshape(keys, [2, 2, 10]).transpose(0, 2, 1)
    np.testing.assert_allclose(heads, expected, atol=1e-6)
