import numpy as np
import pytest
import tensorflow as tf

from tests.layers.recurrence_transcription import loop_both_ways
from uanet_tf.layers.bidirectional import DIRECTIONS, Bidirectional
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.recurrence import GRU, LSTM

STEPS, WIDTH, UNITS = 5, 3, 4
LENGTHS = [5, 2, 0]
INPUTS = np.random.default_rng(1).normal(size=[STEPS, 3, WIDTH]).astype(np.float32)
MASK = np.arange(STEPS)[:, None] < np.array(LENGTHS)
cells = pytest.mark.parametrize("cell", [LSTM, GRU], ids=["lstm", "gru"])


def make(cell, **options):
    owner = tf.keras.layers.Layer()
    weights = Bidirectional(owner, cell, WIDTH, UNITS, **options)
    rng = np.random.default_rng(2)
    owner.set_weights([rng.normal(size=weight.shape) for weight in owner.weights])
    return owner, weights


@cells
@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops_over_each_sentence(cell, masked):
    _, weights = make(cell)
    rng = np.random.default_rng(3)
    masks = {way: 2.0 * (rng.random([3, UNITS]) < 0.5) for way in DIRECTIONS} if masked else {}
    tied = {way: tf.constant(mask, tf.float32) for way, mask in masks.items()}
    states = weights(tf.constant(INPUTS), tf.constant(MASK), tied)
    for row, length in enumerate(LENGTHS):
        rows = {way: mask[row] for way, mask in masks.items()}
        expected = loop_both_ways(weights, INPUTS[:length, row], rows)
        for way, found in zip(DIRECTIONS, states, strict=True):
            np.testing.assert_allclose(found[:length, row], expected[way], atol=1e-5)
            np.testing.assert_array_equal(found[length:, row], 0.0)


@cells
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
def test_where_lstms_are_fused_the_states_are_the_same(cell, masked, rows):
    """Masks of samples and other cells are not left out there."""
    _, weights = make(cell)
    masks = np.random.default_rng(3).integers(0, 2, [2, rows, UNITS]).astype(np.float32)
    tied = dict(zip(DIRECTIONS, 2.0 * masks, strict=True)) if masked else dict.fromkeys(DIRECTIONS)
    mask = tf.constant(MASK[:, :rows]) if rows > 1 else None
    given = tf.constant(INPUTS[:, :rows]), mask, tied
    expected = weights(*given)
    found = weights(*given, lite=LiteGraph(fused_lstm=True))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@cells
@pytest.mark.parametrize("mask", [MASK, None])
def test_inputs_that_are_rows_of_a_table(cell, mask):
    """Each row is multiplied once; at padding no row is read, not even one that is not there."""
    _, weights = make(cell)
    table = np.random.default_rng(4).normal(size=[6, WIDTH]).astype(np.float32)
    places = np.random.default_rng(5).integers(0, 6, [STEPS, 3]).astype(np.int32)
    real = MASK if mask is not None else np.ones_like(MASK)
    given = None if mask is None else tf.constant(mask)
    expected = weights(tf.constant(table[places]), given)
    found = weights(tf.constant(table), given, places=tf.constant(np.where(real, places, 99)))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@cells
def test_first_weights(cell):
    weights = Bidirectional(tf.keras.layers.Layer(), cell, WIDTH, UNITS)
    for way in DIRECTIONS:
        ones = [0, 1, 0, 0] if cell is LSTM else [0, 0, 0]  # the forget gate; i, f, o, g
        np.testing.assert_array_equal(weights.biases[way], np.repeat(ones, UNITS))
        blocks = np.split(weights.recurrent_kernels[way].numpy(), cell.gates, axis=-1)
        for number, block in enumerate(blocks):
            np.testing.assert_allclose(block @ block.T, np.eye(UNITS), atol=1e-5)
            assert all(np.abs(block - other).max() > 0.01 for other in blocks[:number])
    kernels = [weights.recurrent_kernels[way].numpy() for way in DIRECTIONS]
    assert np.abs(kernels[0] - kernels[1]).max() > 0.01


@cells
def test_loops_in_blocks_close_padding_too(cell):
    _, weights = make(cell)
    garbage = np.where(MASK[..., None], INPUTS, np.nan).astype(np.float32)
    expected = weights(tf.constant(INPUTS), tf.constant(MASK))
    states = weights(tf.constant(garbage), tf.constant(MASK), lite=LiteGraph())
    for one, other in zip(states, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
        np.testing.assert_array_equal(one.numpy()[~MASK], 0.0)
