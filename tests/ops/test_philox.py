import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.dropout import fold_in, philox_uniform
from uanet_tf.ops.graphs import graph_function

SPEC = [tf.TensorSpec([2], tf.int32)]
SEEDS = [[0, 0], [1, 0], [7, 3], [-5, 2**31 - 1], [-(2**31), -1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_numbers_are_tensorflows(seed):
    seed = tf.constant(seed)
    expected = tf.random.stateless_uniform([3, 50], seed, alg="philox").numpy()
    np.testing.assert_array_equal(philox_uniform([3, 50], seed), expected)
    draw = graph_function(SPEC)(lambda seed: philox_uniform([3, 50], seed))
    np.testing.assert_array_equal(draw(seed), expected)
    folded = tf.random.experimental.stateless_fold_in(seed, 9, alg="philox")
    np.testing.assert_array_equal(fold_in(seed, 9), folded)
