import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.masking import is_right_padded, keep, key_bias, sequence_mask


def test_sequence_mask():
    mask = sequence_mask(tf.constant([2, 0, 3]), 4)
    np.testing.assert_array_equal(mask, [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0]])
    assert mask.dtype == tf.bool
    assert sequence_mask([2, 0, 3]).shape == [3, 3]
    assert sequence_mask(np.array([2, 1]), 0).shape == [2, 0]


def test_what_is_kept_at_tokens():
    mask = sequence_mask([2, 0], 2)
    np.testing.assert_array_equal(keep(mask, tf.constant([[5, 6], [7, 8]])), [[5, 6], [0, 0]])
    numbers = keep(mask, tf.constant([[np.nan, 2.0], [np.nan, 1.0]]), 0.5)
    np.testing.assert_array_equal(numbers, [[np.nan, 2.0], [0.5, 0.5]])
    flags = keep(mask, tf.constant([[True, False], [True, True]]), False)
    np.testing.assert_array_equal(flags, [[True, False], [False, False]])
    assert flags.dtype == tf.bool


def test_without_padding_all_are_kept():
    values = tf.constant([[5.0]])
    assert keep(None, values) is values


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_sequence_mask_of_unknown_size(dtype):
    traced = graph_function([tf.TensorSpec([None], dtype), tf.TensorSpec([], tf.int32)])(
        lambda lengths, size: sequence_mask(lengths, size)
    )
    np.testing.assert_array_equal(traced(tf.constant([1, 2], dtype), 3), [[1, 0, 0], [1, 1, 0]])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([1, 1, 0, 0], True),
        ([1, 1, 1, 1], True),
        ([0, 0, 0, 0], True),
        ([0, 1, 1, 1], False),
        ([1, 0, 1, 0], False),
    ],
)
def test_is_right_padded(row, expected):
    mask = tf.constant([[1, 1, 1, 0], row]) == 1
    assert bool(is_right_padded(mask)) is expected


def test_is_right_padded_of_one_or_no_position():
    assert bool(is_right_padded(tf.constant([[False], [True]])))
    assert bool(is_right_padded(tf.zeros([2, 0], tf.bool)))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.bfloat16])
def test_key_bias(dtype):
    bias = key_bias(sequence_mask([2, 0], 3), dtype)
    weights = tf.nn.softmax(tf.ones([2, 1, 3], dtype) + bias)
    np.testing.assert_array_equal(tf.cast(weights[0, 0], tf.float32), [0.5, 0.5, 0])
    np.testing.assert_allclose(tf.cast(weights[1, 0], tf.float32), [1 / 3] * 3, rtol=1e-2)
