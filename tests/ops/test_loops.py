"""Loops in blocks give what plain loops give."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.chain import best_path
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.loops import BLOCK, BLOCK_OF_ONE, scan_blocks
from uanet_tf.ops.recurrence import gru_scan, lstm_scan

LENGTHS = (0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, 3 * BLOCK - 1)
LENGTHS += (BLOCK_OF_ONE, BLOCK_OF_ONE + 1)
FEW = (0, 1, BLOCK, BLOCK + 1, 3 * BLOCK - 1, BLOCK_OF_ONE + 1)
CELLS = {lstm_scan: 4, gru_scan: 3}
WIDTH = 5


def normal(*shape, seed=1):
    return tf.constant(np.random.default_rng(seed).normal(size=shape), tf.float32)


@pytest.mark.parametrize("length", LENGTHS)
def test_sums_in_either_direction(length):
    """Against plain Python, with two inputs and a state of another shape than the output."""
    numbers, signs = np.arange(length) + 1, (-1) ** np.arange(length)

    def step(now, state):
        number, sign = now
        total = state[0] + number * sign
        return tf.stack([total, number]), (total,)

    inputs = (tf.constant(numbers, tf.int32), tf.constant(signs, tf.int32))
    zero = tf.zeros([], tf.int32)
    for reverse in (False, True):
        outputs, (last,) = scan_blocks(
            step, inputs, (zero,), tf.zeros([2], tf.int32), reverse=reverse
        )
        products = (numbers * signs)[::-1] if reverse else numbers * signs
        sums = np.cumsum(products)
        assert int(last) == products.sum()
        np.testing.assert_array_equal(outputs[:, 0], sums[::-1] if reverse else sums)
        np.testing.assert_array_equal(outputs[:, 1], numbers)


@pytest.mark.parametrize("scan", CELLS, ids=lambda scan: scan.__name__)
@pytest.mark.parametrize("length", FEW)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
def test_recurrences(scan, length, reverse, rows):
    gates = CELLS[scan] * WIDTH
    projected, kernel = normal(length, rows, gates), normal(WIDTH, gates, seed=2)
    for mask in (None, tf.nn.relu(normal(rows, WIDTH, seed=3))):
        expected = scan(projected, kernel, mask, reverse=reverse)
        actual = scan(projected, kernel, mask, reverse=reverse, lite=LiteGraph())
        assert actual.shape == (length, rows, WIDTH)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("length", LENGTHS[1:])
def test_best_paths(length):
    random = np.random.default_rng(length)
    scores = normal(4, length, WIDTH, seed=length)
    mask = tf.sequence_mask(random.integers(0, length + 1, 4), length)
    start, end = (random.random(WIDTH) < 0.7 for _ in range(2))
    steps = random.random([WIDTH, WIDTH]) < 0.6
    expected, _ = best_path(scores, mask, start, steps, end)
    actual, _ = best_path(scores, mask, start, steps, end, LiteGraph())
    np.testing.assert_array_equal(actual, expected)
