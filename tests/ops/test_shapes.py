import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import reshape, sizes


@pytest.mark.parametrize("spec", [[2, None, 6], [None, None, 6], [2, 5, 6]])
def test_reshaped_as_tensorflow_does_it(spec):
    @graph_function([tf.TensorSpec(spec)])
    def split(inputs):
        rows, length, width = sizes(inputs)
        return reshape(inputs, [rows, length, 2, width // 2])

    inputs = np.arange(60, dtype=np.float32).reshape(2, 5, 6)
    np.testing.assert_array_equal(split(inputs), inputs.reshape(2, 5, 2, 3))


@pytest.mark.parametrize("spec", [[None, 0, 6], [0, None, 6]])
def test_of_no_elements(spec):
    """-1 could be anything beside a known size of 0."""

    @graph_function([tf.TensorSpec(spec)])
    def answer(inputs):
        return linear(inputs, tf.ones([6, 4]))

    shape = [2 if size is None else size for size in spec]
    assert answer(np.zeros(shape, np.float32)).shape == (*shape[:-1], 4)


def test_no_rows():
    inputs = tf.zeros([0, 6])
    assert reshape(inputs, [*sizes(inputs)[:-1], 2, 3]).shape == (0, 2, 3)
