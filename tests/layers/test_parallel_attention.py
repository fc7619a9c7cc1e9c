"""Several streams at once get what each gets by itself."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.layers.relative_attention import Heads, attend_streams
from uanet_tf.ops import attention

HEADS, HEAD_WIDTH, BATCH, LENGTH = 2, 3, 3, 5
POSITIONS = np.random.default_rng(1).normal(size=[HEADS * HEAD_WIDTH, 2 * LENGTH]).astype("f4")
MASK = tf.constant(np.arange(LENGTH) < np.array([[3], [5], [1]]))


def make_stream(seed: int, **kwargs) -> Heads:
    rng = np.random.default_rng(seed)
    heads = rng.normal(size=[3, HEADS, BATCH, LENGTH, HEAD_WIDTH]).astype("f4")
    biases = rng.normal(size=[2, HEADS * HEAD_WIDTH]).astype("f4")
    return Heads(*map(tf.constant, heads), *map(tf.constant, biases), **kwargs)


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("cells", [attention.MOST_CELLS, 1])
@pytest.mark.parametrize("count", [2, 3])
def test_as_one_by_one(count, cells, mask, monkeypatch):
    streams = [make_stream(k) for k in range(count)]
    alone = [attend_streams([stream], POSITIONS, mask)[0] for stream in streams]
    monkeypatch.setattr(attention, "MOST_CELLS", cells)  # 1: one query after the other
    together = attend_streams(streams, POSITIONS, mask)
    assert len(together) == len(streams)
    for found, expected in zip(together, alone, strict=True):
        assert found.shape == [BATCH, LENGTH, HEADS * HEAD_WIDTH]
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16])
def test_narrow_numbers(dtype):
    def narrow(stream: Heads) -> Heads:
        return stream._replace(
            **{name: tf.cast(getattr(stream, name), dtype) for name in Heads._fields[:5]}
        )

    streams = [make_stream(1), make_stream(2)]
    positions = tf.cast(POSITIONS, dtype)
    together = attend_streams([narrow(stream) for stream in streams], positions, MASK)
    for found, expected in zip(together, attend_streams(streams, POSITIONS, MASK), strict=True):
        assert found.dtype == dtype
        # Means of values of about 1; bfloat16 keeps 8 bits, and scores of about 10 do too.
        np.testing.assert_allclose(tf.cast(found, tf.float32), expected, atol=0.15)


def test_each_drops_by_its_own_seed_and_rate():
    seeds = [tf.constant([1, 2]), tf.constant([3, 4]), None]
    streams = [
        make_stream(1, dropout=0.5, dropout_seed=seeds[0]),
        make_stream(2, dropout=0.2, dropout_seed=seeds[1]),
        make_stream(3, dropout=0.5, dropout_seed=seeds[2]),
    ]
    together = attend_streams(streams, POSITIONS, MASK)
    for stream, found in zip(streams, together, strict=True):
        np.testing.assert_allclose(found, attend_streams([stream], POSITIONS, MASK)[0], atol=1e-5)
    dry = attend_streams([one._replace(dropout_seed=None) for one in streams], POSITIONS, MASK)
    assert [np.allclose(a, b) for a, b in zip(together, dry, strict=True)] == [False, False, True]
