import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function, loops_in_blocks
from uanet_tf.ops.shapes import permute

SHAPE, ONE_ROW = (2, 3, 4, 5), (1, 3, 4, 5)
AXES = [[1, 0, 2], [2, 0, 1, 3], [1, 2, 0, 3], [0, 1, 2]]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("shape", [SHAPE, ONE_ROW])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_as_numpy(axes, shape, dtype, in_blocks):
    values = np.random.default_rng(1).normal(size=shape[: len(axes)])
    inputs = tf.cast(values, dtype)
    with loops_in_blocks(in_blocks):
        found = permute(inputs, axes)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.transpose(inputs.numpy(), axes))


@pytest.mark.parametrize("unknown", [[1], [1, 2]])
def test_one_row_of_unknown_sizes(unknown):
    shape = [None if axis in unknown else size for axis, size in enumerate(ONE_ROW[:3])]
    graph = graph_function([tf.TensorSpec(shape)])(lambda inputs: permute(inputs, [1, 0, 2]))
    with loops_in_blocks():
        run = graph.get_concrete_function()
    inputs = tf.random.normal(ONE_ROW[:3])
    np.testing.assert_array_equal(run(inputs), np.transpose(inputs, [1, 0, 2]))


@pytest.mark.parametrize("axes", AXES)
def test_gradient(axes):
    inputs = tf.random.normal(SHAPE[: len(axes)])
    factors = tf.random.normal([SHAPE[axis] for axis in axes])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_sum(permute(inputs, axes) * factors)
    expected = np.transpose(factors.numpy(), np.argsort(axes))
    np.testing.assert_array_equal(tape.gradient(loss, inputs), expected)
