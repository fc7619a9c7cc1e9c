"""Attention in blocks of queries equals attention all at once."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.layers.relative_attention import QueryTokens, RelativeAttention
from uanet_tf.ops import attention
from uanet_tf.ops.attention import (
    merge_heads,
    position_keys,
    position_scores,
    relative_distances,
    relative_shift,
    sinusoid,
    split_heads,
)
from uanet_tf.ops.graphs import LiteGraph, graph_function


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


def test_distances_are_not_clipped():
    rows = sinusoid(tf.range(-600, 600), 20).numpy()
    assert len(np.unique(rows.round(4), axis=0)) == 1200


def test_relative_distances_of_unknown_length():
    traced = graph_function([tf.TensorSpec([], tf.int32)])(
        lambda length: relative_distances(length, 7).sinusoids
    )
    for length in (1, 5):
        distances = tf.range(length - 1, -length - 1, -1)
        assert distances.shape == [2 * length]
        np.testing.assert_allclose(traced(length), sinusoid(distances, 7), atol=1e-6)


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_shift_equals_brute_force(length):
    scores = np.random.default_rng(0).standard_normal([2, 3, length, 2 * length])
    column_of = {length - 1 - column: column for column in range(2 * length)}
    expected = np.zeros([2, 3, length, length])
    for i in range(length):
        for j in range(length):
            expected[:, :, i, j] = scores[:, :, i, column_of[i - j]]
    np.testing.assert_array_equal(relative_shift(tf.constant(scores)), expected)


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


WIDTH = 6
KERNEL = tf.constant(np.random.default_rng(1).normal(size=[WIDTH, 4]), tf.float32)


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("more", [None, 0, 3])
def test_of_a_table_they_are_the_same(length, more):
    lite = None if more is None else LiteGraph(length + more)
    keys = position_keys(KERNEL, relative_distances(tf.constant(length), WIDTH, lite=lite))
    expected = relative_distances(length, WIDTH).sinusoids.numpy() @ KERNEL.numpy()
    np.testing.assert_allclose(keys.numpy().T, expected, atol=1e-5)


def test_larger_distances_count_as_the_largest():
    keys = position_keys(KERNEL, relative_distances(5, WIDTH, lite=LiteGraph(3)))
    distances = tf.constant([2, 2, 2, 1, 0, -1, -2, -3, -3, -3])  # from 4 down to -5
    expected = sinusoid(distances, WIDTH).numpy() @ KERNEL.numpy()
    np.testing.assert_allclose(keys.numpy().T, expected, atol=1e-5)


B, T, W = 3, 11, 8
LENGTHS = [11, 4, 1]
WANTED = [[0, 4, 7, 9, 10], [0, 1, 2, 3], [0]]


def make_answer(context, asked):
    """A function of nothing, in a graph of its own, that asks an attention layer."""
    tf.keras.utils.set_random_seed(3)
    layer = RelativeAttention(2, 4, context_width=W if context else None)
    rng = np.random.default_rng(3)
    words, labels = (tf.constant(rng.normal(size=[B, T, W]), tf.float32) for _ in range(2))
    turn = tf.constant(rng.normal(size=[W, W]), tf.float32)
    positions = turn @ tf.transpose(relative_distances(T, W).sinusoids)
    wanted = np.array([np.isin(np.arange(T), row) for row in WANTED])
    queries = QueryTokens.of_mask(tf.constant(wanted)) if asked else None

    @graph_function([tf.TensorSpec([None, None, W])])
    def answer(words):
        return layer(
            words if queries is None else queries.rows(words),
            positions,
            context=labels if context else words if asked else None,
            mask=tf.sequence_mask(LENGTHS, T),
            query_tokens=queries,
        )

    return lambda: answer(words).numpy()


@pytest.mark.parametrize(("context", "asked"), list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("rows", [1, 3])
def test_blocks_change_nothing(monkeypatch, context, asked, rows):
    expected = make_answer(context, asked)()
    monkeypatch.setattr(attention, "MOST_CELLS", rows * 2 * B * 2 * T)
    actual = make_answer(context, asked)()
    assert actual.shape == ((sum(map(len, WANTED)), W) if asked else (B, T, W))
    np.testing.assert_allclose(actual, expected, atol=1e-6)
