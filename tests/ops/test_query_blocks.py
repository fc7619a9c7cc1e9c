"""Attention in blocks of queries equals attention all at once."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.layers.relative_attention import QueryTokens, RelativeAttention
from uanet_tf.ops import attention
from uanet_tf.ops.attention import relative_sinusoid
from uanet_tf.ops.graphs import graph_function

B, T, W = 3, 11, 8
LENGTHS = [11, 4, 1]
WANTED = [[0, 4, 7, 9, 10], [0, 1, 2, 3], [0]]


def make_answer(context, asked):
    """A function of nothing, in a graph of its own, that asks an attention layer."""
    tf.keras.utils.set_random_seed(3)
    layer = RelativeAttention(2, 4, context_width=W if context else None)
    words, labels = tf.random.normal([B, T, W]), tf.random.normal([B, T, W])
    positions = tf.random.normal([W, W]) @ tf.transpose(relative_sinusoid(T, W))
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
