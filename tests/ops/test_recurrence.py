"""Each cell's loop and written-out gradient, against plain NumPy and plain autodiff."""

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.recurrences import LOOPS, UNROLLED
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.recurrence import GRU, LSTM, gru_scan, gru_step

STEPS, ROWS, WIDTH = 5, 3, 4
cells = pytest.mark.parametrize("cell", [LSTM, GRU], ids=["lstm", "gru"])
directions = pytest.mark.parametrize("reverse", [False, True])


def make_arrays(cell, steps=STEPS, rows=ROWS, width=WIDTH, dtype=np.float64):
    rng = np.random.default_rng(3)
    projected = rng.normal(size=[steps, rows, cell.gates * width])
    kernel = rng.normal(size=[width, cell.gates * width])
    mask = (rng.random([rows, width]) < 0.6) / 0.6
    return projected.astype(dtype), kernel.astype(dtype), mask.astype(dtype)


def make_tensors(cell, **options):
    return [tf.constant(x) for x in make_arrays(cell, **options)]


@cells
@directions
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("steps", [1, STEPS])
def test_equals_loops_over_the_equation(cell, steps, masked, reverse):
    projected, kernel, mask = make_arrays(cell, steps)
    mask = mask if masked else None
    states = cell.scan(tf.constant(projected), tf.constant(kernel), mask, reverse=reverse)
    np.testing.assert_allclose(states, LOOPS[cell](projected, kernel, mask, reverse), atol=1e-12)


@cells
def test_one_mask_for_all_rows(cell):
    projected, kernel, mask = make_tensors(cell)

    def run(mask):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            states = cell.scan(projected, kernel, mask)
            loss = tf.reduce_sum(tf.square(states))
        return states, tape.gradient(loss, kernel)

    for one, other in zip(run(mask[:1]), run(tf.repeat(mask[:1], ROWS, axis=0)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@cells
@directions
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_gradients_equal_automatic_ones(cell, in_graph, masked, reverse):
    projected, kernel, mask = make_tensors(cell)
    mask = mask if masked else None
    weights = tf.constant(np.random.default_rng(4).normal(size=[STEPS, ROWS, WIDTH]))

    def gradients(scan):
        with tf.GradientTape() as tape:
            tape.watch([projected, kernel])
            loss = tf.reduce_sum(weights * tf.square(scan(projected, kernel, mask)))
        return tape.gradient(loss, [projected, kernel])

    actual = graph_function()(gradients) if in_graph else gradients
    found = actual(lambda p, k, m: cell.scan(p, k, m, reverse=reverse))
    expected = gradients(lambda p, k, m: UNROLLED[cell](p, k, m, reverse))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)
        assert np.abs(other).max() > 0.01


@cells
@directions
def test_bfloat16_multiplies_and_float32_adds(cell, reverse):
    """Over many steps states stay as near as one rounded product is, and so do gradients."""
    arrays = make_arrays(cell, steps=200, width=16, dtype=np.float32)
    arrays[1][:] *= 0.15  # as trained kernels are, not so large that errors grow step by step
    narrow = [tf.cast(x, tf.bfloat16) for x in arrays]
    wide = [tf.cast(x, tf.float32) for x in narrow]  # the same rounded values

    @graph_function()
    def run(projected, kernel, mask):
        with tf.GradientTape() as tape:
            tape.watch([projected, kernel])
            states = cell.scan(projected, kernel, mask, reverse=reverse)
            loss = tf.reduce_mean(tf.square(tf.cast(states, tf.float32)))
        return states, *tape.gradient(loss, [projected, kernel])

    for found, expected in zip(run(*narrow), run(*wide), strict=True):
        assert found.dtype == tf.bfloat16
        error = np.abs(tf.cast(found, tf.float32) - expected)
        assert error.max() < 0.03 * np.abs(expected).max()


@cells
def test_the_mask_gets_no_gradient(cell):
    projected, kernel, mask = make_tensors(cell)
    with tf.GradientTape() as tape:
        tape.watch(mask)
        loss = tf.reduce_sum(cell.scan(projected, kernel, mask))
    assert tape.gradient(loss, mask) is None


def with_padding(cell, projected, tokens):
    """Projected inputs that hold a bias, with the row of padding where there is no token."""
    bias = tf.cast(np.random.default_rng(8).normal(size=projected.shape[-1]), projected.dtype)
    return tf.where(tf.constant(tokens[..., None]), projected, cell.padding_row(bias) + bias)


@cells
@directions
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_closed_padding_leaves_exact_zeros(cell, reverse, dtype):
    """A closed step has state 0, and the tokens of the row do not see it."""
    projected, kernel, mask = make_arrays(cell)
    lengths = np.array([STEPS, 2, 0])
    tokens = np.arange(STEPS)[:, None] < lengths
    closed = with_padding(cell, tf.cast(projected, dtype), tokens)
    states = cell.scan(closed, tf.cast(kernel, dtype), tf.cast(mask, dtype), reverse=reverse)
    states = tf.cast(states, tf.float64).numpy()
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}[dtype]
    for row, length in enumerate(lengths):
        np.testing.assert_array_equal(states[length:, row], 0.0)
        alone = projected[:length, row : row + 1]
        expected = LOOPS[cell](alone, kernel, mask[row : row + 1], reverse)
        np.testing.assert_allclose(states[:length, row], expected[:, 0], atol=tolerance)


@cells
def test_padding_passes_no_gradient(cell):
    projected, kernel, _ = make_tensors(cell)
    tokens = np.arange(STEPS)[:, None] < np.array([STEPS, 2, 0])
    with tf.GradientTape() as tape:
        tape.watch([projected, kernel])
        states = cell.scan(with_padding(cell, projected, tokens), kernel, reverse=True)
        loss = tf.reduce_sum(tf.square(states))
    to_projected, to_kernel = tape.gradient(loss, [projected, kernel])
    np.testing.assert_array_equal(to_projected.numpy()[~tokens], 0.0)
    assert np.isfinite(to_kernel).all()


@cells
@directions
def test_one_trace_serves_any_shape(cell, reverse):
    kernel = tf.constant(make_arrays(cell, dtype=np.float32)[1])
    spec = tf.TensorSpec([None, None, cell.gates * WIDTH])

    @graph_function([spec, tf.TensorSpec([None, WIDTH])])
    def run(projected, mask):
        with tf.GradientTape() as tape:
            tape.watch(projected)
            states = cell.scan(projected, kernel, mask, reverse=reverse)
        return states, tape.gradient(states, projected)

    for steps, rows in ((STEPS, ROWS), (1, 1), (7, 2)):
        projected, _, mask = make_arrays(cell, steps, rows, dtype=np.float32)
        states, gradient = run(tf.constant(projected), tf.constant(mask))
        expected = LOOPS[cell](projected, kernel.numpy(), mask, reverse)
        np.testing.assert_allclose(states, expected, atol=1e-5)
        assert gradient.shape == projected.shape
    assert run.experimental_get_tracing_count() == 1


@cells
def test_no_steps_and_no_rows(cell):
    for steps, rows in ((0, 2), (3, 0)):
        projected, kernel, _ = make_tensors(cell, steps=steps, rows=rows, dtype=np.float32)
        assert graph_function()(cell.scan)(projected, kernel).shape == [steps, rows, WIDTH]


def test_equals_the_gru_of_keras():
    """Keras too orders its gates z, r, n; its second bias is zero here."""
    projected, kernel, _ = make_arrays(GRU, dtype=np.float32)
    keras = tf.keras.layers.GRU(WIDTH, return_sequences=True)
    inputs = tf.transpose(projected, [1, 0, 2])
    keras(inputs)
    keras.set_weights([np.eye(3 * WIDTH), kernel, np.zeros([2, 3 * WIDTH])])
    states = tf.transpose(gru_scan(tf.constant(projected), tf.constant(kernel)), [1, 0, 2])
    np.testing.assert_allclose(states, keras(inputs), atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_steps_one_by_one_are_the_scan(masked):
    projected, kernel, mask = make_tensors(GRU)
    mask = mask if masked else None
    state, states = tf.zeros([ROWS, WIDTH], tf.float64), gru_scan(projected, kernel, mask)
    for t in range(STEPS):
        state = gru_step(projected[t], state, kernel, mask)
        np.testing.assert_allclose(state, states[t], atol=1e-12)
