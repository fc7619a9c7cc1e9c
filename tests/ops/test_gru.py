"""The GRU's loop and its written-out gradient, against plain NumPy and plain autodiff."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.gru import close_padding, gru_scan, gru_step

STEPS, ROWS, WIDTH = 5, 3, 4


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def make_arrays(steps=STEPS, rows=ROWS, width=WIDTH, dtype=np.float64):
    rng = np.random.default_rng(3)
    projected = rng.normal(size=[steps, rows, 3 * width])
    kernel = rng.normal(size=[width, 3 * width])
    mask = (rng.random([rows, width]) < 0.6) / 0.6
    return projected.astype(dtype), kernel.astype(dtype), mask.astype(dtype)


def loop_gru(projected, kernel, mask, reverse):
    """One row, one step and one unit at a time."""
    steps, rows, _ = projected.shape
    width = kernel.shape[0]
    states = np.zeros([steps, rows, width])
    for row in range(rows):
        h = np.zeros(width)
        for t in reversed(range(steps)) if reverse else range(steps):
            seen = [h[k] * (1.0 if mask is None else mask[row, k]) for k in range(width)]
            new_h = np.zeros(width)
            for unit in range(width):
                q = [
                    sum(seen[k] * kernel[k, gate * width + unit] for k in range(width))
                    for gate in range(3)
                ]
                p = [projected[t, row, gate * width + unit] for gate in range(3)]
                z, r = sigmoid(p[0] + q[0]), sigmoid(p[1] + q[1])
                new_h[unit] = z * h[unit] + (1 - z) * np.tanh(p[2] + r * q[2])
            h = new_h
            states[t, row] = h
    return states


def naive_gru(projected, kernel, mask, reverse):
    """The same in TensorFlow, unrolled, for its automatic gradient."""
    h = tf.zeros_like(projected[0, :, : kernel.shape[0]])
    states = {}
    for t in reversed(range(projected.shape[0])) if reverse else range(projected.shape[0]):
        q = tf.split(tf.matmul(h if mask is None else h * mask, kernel), 3, axis=-1)
        p = tf.split(projected[t], 3, axis=-1)
        z, r = tf.sigmoid(p[0] + q[0]), tf.sigmoid(p[1] + q[1])
        h = z * h + (1 - z) * tf.tanh(p[2] + r * q[2])
        states[t] = h
    return tf.stack([states[t] for t in sorted(states)])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("steps", [1, STEPS])
def test_equals_loops_over_the_equation(steps, masked, reverse):
    projected, kernel, mask = make_arrays(steps)
    mask = mask if masked else None
    states = gru_scan(tf.constant(projected), tf.constant(kernel), mask, reverse=reverse)
    np.testing.assert_allclose(states, loop_gru(projected, kernel, mask, reverse), atol=1e-12)


def test_equals_the_gru_of_keras():
    """Keras too orders its gates z, r, n; its second bias is zero here."""
    projected, kernel, _ = make_arrays(dtype=np.float32)
    keras = tf.keras.layers.GRU(WIDTH, return_sequences=True)
    inputs = tf.transpose(projected, [1, 0, 2])
    keras(inputs)
    keras.set_weights([np.eye(3 * WIDTH), kernel, np.zeros([2, 3 * WIDTH])])
    states = tf.transpose(gru_scan(tf.constant(projected), tf.constant(kernel)), [1, 0, 2])
    np.testing.assert_allclose(states, keras(inputs), atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_steps_one_by_one_are_the_scan(masked):
    projected, kernel, mask = (tf.constant(x) for x in make_arrays())
    mask = mask if masked else None
    state, states = tf.zeros([ROWS, WIDTH], tf.float64), gru_scan(projected, kernel, mask)
    for t in range(STEPS):
        state = gru_step(projected[t], state, kernel, mask)
        np.testing.assert_allclose(state, states[t], atol=1e-12)


def test_one_mask_for_all_rows():
    projected, kernel, mask = (tf.constant(x) for x in make_arrays())

    def run(mask):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            states = gru_scan(projected, kernel, mask)
            loss = tf.reduce_sum(tf.square(states))
        return states, tape.gradient(loss, kernel)

    for one, other in zip(run(mask[:1]), run(tf.repeat(mask[:1], ROWS, axis=0)), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("in_graph", [False, True])
def test_gradients_equal_automatic_ones(in_graph, masked, reverse):
    projected, kernel, mask = (tf.constant(x) for x in make_arrays())
    mask = mask if masked else None
    weights = tf.constant(np.random.default_rng(4).normal(size=[STEPS, ROWS, WIDTH]))

    def gradients(scan):
        with tf.GradientTape() as tape:
            tape.watch([projected, kernel])
            loss = tf.reduce_sum(weights * tf.square(scan(projected, kernel, mask)))
        return tape.gradient(loss, [projected, kernel])

    actual = tf.function(gradients) if in_graph else gradients
    found = actual(lambda p, k, m: gru_scan(p, k, m, reverse=reverse))
    expected = gradients(lambda p, k, m: naive_gru(p, k, m, reverse))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)
        assert np.abs(other).max() > 0.01


def test_the_mask_gets_no_gradient():
    projected, kernel, mask = (tf.constant(x) for x in make_arrays())
    with tf.GradientTape() as tape:
        tape.watch(mask)
        loss = tf.reduce_sum(gru_scan(projected, kernel, mask))
    assert tape.gradient(loss, mask) is None


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("reverse", [False, True])
def test_closed_padding_leaves_exact_zeros(reverse, dtype):
    """A closed step has state 0, and the tokens of the row do not see it, nor a NaN in it."""
    projected, kernel, mask = make_arrays()
    lengths = np.array([STEPS, 2, 0])
    tokens = np.arange(STEPS)[:, None] < lengths
    garbage = np.where(tokens[..., None], projected, np.nan)
    closed = close_padding(tf.cast(garbage, dtype), tf.constant(tokens))
    states = gru_scan(closed, tf.cast(kernel, dtype), tf.cast(mask, dtype), reverse=reverse)
    states = tf.cast(states, tf.float64).numpy()
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}[dtype]
    for row, length in enumerate(lengths):
        np.testing.assert_array_equal(states[length:, row], 0.0)
        alone = loop_gru(projected[:length, row : row + 1], kernel, mask[row : row + 1], reverse)
        np.testing.assert_allclose(states[:length, row], alone[:, 0], atol=tolerance)


def test_padding_passes_no_gradient():
    projected, kernel, _ = (tf.constant(x) for x in make_arrays())
    tokens = tf.constant(np.arange(STEPS)[:, None] < np.array([STEPS, 2, 0]))
    with tf.GradientTape() as tape:
        tape.watch([projected, kernel])
        closed = close_padding(projected, tokens)
        loss = tf.reduce_sum(tf.square(gru_scan(closed, kernel, reverse=True)))
    to_projected, to_kernel = tape.gradient(loss, [projected, kernel])
    np.testing.assert_array_equal(to_projected.numpy()[~tokens.numpy()], 0.0)
    assert np.isfinite(to_kernel).all()


@pytest.mark.parametrize("reverse", [False, True])
def test_one_trace_serves_any_shape(reverse):
    kernel = tf.constant(make_arrays(dtype=np.float32)[1])
    spec = tf.TensorSpec([None, None, 3 * WIDTH])

    @tf.function(input_signature=[spec, tf.TensorSpec([None, WIDTH])])
    def run(projected, mask):
        with tf.GradientTape() as tape:
            tape.watch(projected)
            states = gru_scan(projected, kernel, mask, reverse=reverse)
        return states, tape.gradient(states, projected)

    for steps, rows in ((STEPS, ROWS), (1, 1), (7, 2)):
        projected, _, mask = make_arrays(steps, rows, dtype=np.float32)
        states, gradient = run(tf.constant(projected), tf.constant(mask))
        expected = loop_gru(projected, kernel.numpy(), mask, reverse)
        np.testing.assert_allclose(states, expected, atol=1e-5)
        assert gradient.shape == projected.shape
    assert run.experimental_get_tracing_count() == 1


def test_no_steps_and_no_rows():
    for steps, rows in ((0, 2), (3, 0)):
        projected, kernel, _ = make_arrays(steps, rows, dtype=np.float32)
        states = tf.function(gru_scan)(tf.constant(projected), tf.constant(kernel))
        assert states.shape == [steps, rows, WIDTH]
