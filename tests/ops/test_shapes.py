import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.shapes import (
    fill_rows,
    filled_size,
    permute,
    reshape,
    rows_multiple_of,
    sizes,
    spread,
)


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


VECTORS = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_each_token_has_the_vector_of_its_word():
    found = spread(VECTORS, tf.constant([[2, 0], [0, 0]]))
    np.testing.assert_array_equal(found, [[[5, 6], [1, 2]], [[1, 2], [1, 2]]])


def test_vectors_of_a_sentence_are_those_of_its_tokens():
    np.testing.assert_array_equal(spread(VECTORS, None), VECTORS[tf.newaxis])


SHAPE, ONE_ROW = (2, 3, 4, 5), (1, 3, 4, 5)
AXES = [[1, 0, 2], [2, 0, 1, 3], [1, 2, 0, 3], [0, 1, 2]]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("shape", [SHAPE, ONE_ROW])
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_as_numpy(axes, shape, dtype):
    values = np.random.default_rng(1).normal(size=shape[: len(axes)])
    inputs = tf.cast(values, dtype)
    found = permute(inputs, axes)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.transpose(inputs.numpy(), axes))


@pytest.mark.parametrize("unknown", [[1], [1, 2]])
def test_one_row_of_unknown_sizes(unknown):
    shape = [None if axis in unknown else size for axis, size in enumerate(ONE_ROW[:3])]
    graph = graph_function([tf.TensorSpec(shape)])(lambda inputs: permute(inputs, [1, 0, 2]))
    inputs = tf.random.normal(ONE_ROW[:3])
    np.testing.assert_array_equal(graph(inputs), np.transpose(inputs, [1, 0, 2]))


@pytest.mark.parametrize("axes", AXES)
def test_gradient(axes):
    inputs = tf.random.normal(SHAPE[: len(axes)])
    factors = tf.random.normal([SHAPE[axis] for axis in axes])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_sum(permute(inputs, axes) * factors)
    expected = np.transpose(factors.numpy(), np.argsort(axes))
    np.testing.assert_array_equal(tape.gradient(loss, inputs), expected)


@pytest.mark.parametrize(("batch", "multiple"), [(1, 1), (2, 1), (6, 1), (12, 4), (8, 8), (48, 8)])
def test_rows_come_in_the_multiples_of_their_batch(batch, multiple):
    assert rows_multiple_of(tf.constant(batch)) == multiple


@pytest.mark.parametrize(
    ("rows", "multiple", "filled"),
    [([3, 5], 1, [3, 5]), ([3, 5], 2, [3, 5]), ([3, 5], 4, [3, 5, 0, 0]), ([], 4, [])],
)
def test_row_0_fills_up(rows, multiple, filled):
    assert fill_rows(tf.constant(rows, tf.int64), multiple).numpy().tolist() == filled


def test_sizes_are_filled_up_to_few_values():
    sizes = np.arange(1, 20_000, dtype=np.int32)
    filled = filled_size(tf.constant(sizes)).numpy()
    assert (filled >= sizes).all()
    assert (filled <= sizes * 1.125 + 8).all()
    assert len(set(filled)) < 200
    assert (np.diff(filled) >= 0).all()
