import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.attention import merge_heads, position_scores, relative_shift, split_heads
from uanet_tf.ops.graphs import graph_function


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_shift_equals_brute_force(length):
    scores = np.random.default_rng(0).standard_normal([2, 3, length, 2 * length])
    column_of = {length - 1 - column: column for column in range(2 * length)}
    expected = np.zeros([2, 3, length, length])
    for i in range(length):
        for j in range(length):
            expected[:, :, i, j] = scores[:, :, i, column_of[i - j]]
    np.testing.assert_array_equal(relative_shift(tf.constant(scores)), expected)


def test_shift_of_unknown_length():
    traced = graph_function([tf.TensorSpec([2, None, None, None], tf.float32)])(relative_shift)
    for length in (1, 4):
        scores = tf.random.normal([2, 3, length, 2 * length])
        np.testing.assert_array_equal(traced(scores), relative_shift(scores))


def test_gradient_of_shift():
    """Each score read once gets 1, those of distances that do not occur in their row get 0."""
    scores = tf.zeros([1, 1, 3, 6])
    with tf.GradientTape() as tape:
        tape.watch(scores)
        total = tf.reduce_sum(relative_shift(scores))
    expected = [[0, 0, 1, 1, 1, 0], [0, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]]
    np.testing.assert_array_equal(tape.gradient(total, scores)[0, 0], expected)


def test_position_scores_equal_brute_force():
    heads, batch, length, width = 2, 3, 4, 5
    rng = np.random.default_rng(0)
    queries = rng.standard_normal([heads, batch, length, width])
    positions = rng.standard_normal([heads * width, 2 * length])
    actual = position_scores(tf.constant(queries), tf.constant(positions)).numpy()
    for h, b, i, j in np.ndindex(heads, batch, length, length):
        key = positions[h * width : (h + 1) * width, length - 1 - (i - j)]
        assert actual[h, b, i, j] == pytest.approx(queries[h, b, i] @ key)


def test_heads_split_and_merge():
    inputs = tf.random.normal([2, 3, 3 * 4 * 5])
    parts = split_heads(inputs, 3, 4)
    assert [part.shape.as_list() for part in parts] == [[4, 2, 3, 5]] * 3
    np.testing.assert_array_equal(parts[1][2, :, :, :], inputs[:, :, 30:35])
    np.testing.assert_array_equal(tf.concat([merge_heads(part) for part in parts], axis=-1), inputs)
