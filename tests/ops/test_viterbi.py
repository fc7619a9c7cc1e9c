import itertools

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.chain import best_path
from uanet_tf.ops.graphs import graph_function, loops_in_blocks

CLASSES = 3


def brute_force(scores, start, steps, end):
    """The best allowed path of [T, C] scores, by trying all."""
    best, found = -np.inf, None
    for path in itertools.product(range(CLASSES), repeat=len(scores)):
        allowed = start[path[0]] and end[path[-1]]
        allowed = allowed and all(steps[a, b] for a, b in itertools.pairwise(path))
        total = sum(row[k] for row, k in zip(scores, path, strict=True))
        if allowed and total > best:
            best, found = total, path
    return found


@pytest.mark.parametrize("seed", range(6))
def test_equals_brute_force(seed):
    random = np.random.default_rng(seed)
    lengths = [5, 1, 3, 4]
    scores = random.normal(size=[4, 5, CLASSES]).astype(np.float32)
    mask = np.arange(5) < np.array(lengths)[:, None]
    start, end = random.random([2, CLASSES]) < 0.7
    steps = random.random([CLASSES, CLASSES]) < 0.6
    start[0] = end[0] = steps[0, 0] = True  # so that there is an allowed path
    run = graph_function()(best_path) if seed % 2 else best_path
    path = run(tf.constant(scores), tf.constant(mask), start, steps, end).numpy()
    for row, length, values in zip(path, lengths, scores, strict=True):
        assert tuple(row[:length]) == brute_force(values[:length], start, steps, end)


@pytest.mark.parametrize("in_blocks", [False, True])
def test_without_padding(in_blocks):
    scores = tf.random.stateless_normal([2, 4, CLASSES], [1, 2])
    allowed = np.ones([CLASSES, CLASSES], bool)
    allowed[0, 1] = False
    mask = tf.ones([2, 4], tf.bool)
    expected = best_path(scores, mask, allowed[2], allowed, allowed[2])
    with loops_in_blocks(in_blocks):
        found = best_path(scores, None, allowed[2], allowed, allowed[2])
    np.testing.assert_array_equal(found, expected)


def test_padding_is_never_looked_at():
    scores = np.zeros([1, 3, CLASSES], np.float32)
    scores[0, 2] = np.nan
    allowed = np.ones([CLASSES, CLASSES], bool)
    mask = tf.constant([[True, True, False]])
    path = best_path(tf.constant(scores), mask, allowed[0], allowed, allowed[0])
    assert path.numpy()[0, :2].tolist() == [0, 0]


def test_without_an_allowed_path_there_is_still_an_answer():
    scores = tf.constant([[[0.0, 1.0, 0.0]] * 2])
    none = np.zeros([CLASSES, CLASSES], bool)
    path = best_path(scores, tf.ones([1, 2], tf.bool), none[0], none, none[0])
    assert path.shape == [1, 2]
