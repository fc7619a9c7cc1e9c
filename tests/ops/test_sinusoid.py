import math

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.attention import relative_sinusoid, sinusoid
from uanet_tf.ops.graphs import graph_function


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_sinusoid_equals_brute_force(width):
    distances = [3, 0, -1, -40]
    sines = math.ceil(width / 2)
    expected = []
    for distance in distances:
        angles = [distance / 10000 ** (2 * k / width) for k in range(sines)]
        row = [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
        expected.append(row[:width])
    np.testing.assert_allclose(sinusoid(tf.constant(distances), width), expected, atol=1e-5)


def test_sign_of_distance_shows_in_the_sines_only():
    right, left = sinusoid(tf.constant([4]), 6), sinusoid(tf.constant([-4]), 6)
    np.testing.assert_allclose(right[:, :3], -left[:, :3])
    np.testing.assert_allclose(right[:, 3:], left[:, 3:])


def test_distances_are_not_clipped():
    rows = sinusoid(tf.range(-600, 600), 20).numpy()
    assert len(np.unique(rows.round(4), axis=0)) == 1200


def test_relative_sinusoid_of_unknown_length():
    traced = graph_function([tf.TensorSpec([], tf.int32)])(
        lambda length: relative_sinusoid(length, 7)
    )
    for length in (1, 5):
        distances = tf.range(length - 1, -length - 1, -1)
        assert distances.shape == [2 * length]
        np.testing.assert_allclose(traced(length), sinusoid(distances, 7), atol=1e-6)


def test_dtype():
    assert relative_sinusoid(3, 4, tf.bfloat16).dtype == tf.bfloat16
    np.testing.assert_allclose(relative_sinusoid(3, 4, tf.float64), relative_sinusoid(3, 4))
