"""The LSTM's loop and its written-out gradient, against plain NumPy and plain autodiff."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.lstm import PADDING_SHIFT, lstm_scan

STEPS, ROWS, WIDTH = 5, 3, 4


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def make_arrays(steps=STEPS, rows=ROWS, width=WIDTH, dtype=np.float64):
    rng = np.random.default_rng(3)
    projected = rng.normal(size=[steps, rows, 4 * width])
    kernel = rng.normal(size=[width, 4 * width])
    mask = (rng.random([rows, width]) < 0.6) / 0.6
    return projected.astype(dtype), kernel.astype(dtype), mask.astype(dtype)


def loop_lstm(projected, kernel, mask, reverse):
    """Eq. 3 of Gui et al. (2020), one row, one step and one unit at a time."""
    steps, rows, _ = projected.shape
    width = kernel.shape[0]
    states = np.zeros([steps, rows, width])
    for row in range(rows):
        h, c = np.zeros(width), np.zeros(width)
        for t in reversed(range(steps)) if reverse else range(steps):
            seen = [h[k] * (1.0 if mask is None else mask[row, k]) for k in range(width)]
            new_h, new_c = np.zeros(width), np.zeros(width)
            for unit in range(width):
                i, f, o, g = (
                    projected[t, row, gate * width + unit]
                    + sum(seen[k] * kernel[k, gate * width + unit] for k in range(width))
                    for gate in range(4)
                )
                new_c[unit] = sigmoid(f) * c[unit] + sigmoid(i) * np.tanh(g)
                new_h[unit] = sigmoid(o) * np.tanh(new_c[unit])
            h, c = new_h, new_c
            states[t, row] = h
    return states


def naive_lstm(projected, kernel, mask, reverse):
    """The same in TensorFlow, unrolled, for its automatic gradient."""
    h = c = tf.zeros_like(projected[0, :, : kernel.shape[0]])
    states = {}
    for t in reversed(range(projected.shape[0])) if reverse else range(projected.shape[0]):
        seen = h if mask is None else h * mask
        i, f, o, g = tf.split(projected[t] + tf.matmul(seen, kernel), 4, axis=-1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        states[t] = h
    return tf.stack([states[t] for t in sorted(states)])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("steps", [1, STEPS])
def test_equals_loops_over_the_equation(steps, masked, reverse):
    projected, kernel, mask = make_arrays(steps)
    mask = mask if masked else None
    states = lstm_scan(tf.constant(projected), tf.constant(kernel), mask, reverse=reverse)
    np.testing.assert_allclose(states, loop_lstm(projected, kernel, mask, reverse), atol=1e-12)


def test_one_mask_for_all_rows():
    projected, kernel, mask = make_arrays()
    shared = lstm_scan(tf.constant(projected), tf.constant(kernel), tf.constant(mask[:1]))
    expected = loop_lstm(projected, kernel, np.repeat(mask[:1], ROWS, axis=0), False)
    np.testing.assert_allclose(shared, expected, atol=1e-12)


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
    found = actual(lambda p, k, m: lstm_scan(p, k, m, reverse=reverse))
    expected = gradients(lambda p, k, m: naive_lstm(p, k, m, reverse))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)
        assert np.abs(other).max() > 0.01


def test_gradient_with_one_mask_for_all_rows():
    projected, kernel, mask = (tf.constant(x) for x in make_arrays())

    def gradient(rows):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            loss = tf.reduce_sum(tf.square(lstm_scan(projected, kernel, rows)))
        return tape.gradient(loss, kernel)

    expected = gradient(tf.repeat(mask[:1], ROWS, axis=0))
    np.testing.assert_allclose(gradient(mask[:1]), expected, atol=1e-12)


def test_the_mask_gets_no_gradient():
    projected, kernel, mask = (tf.constant(x) for x in make_arrays())
    with tf.GradientTape() as tape:
        tape.watch(mask)
        loss = tf.reduce_sum(lstm_scan(projected, kernel, mask))
    assert tape.gradient(loss, mask) is None


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("reverse", [False, True])
def test_padding_shift_leaves_exact_zeros(reverse, dtype):
    """A shifted step has state 0, and the tokens of the row do not see it."""
    projected, kernel, mask = make_arrays()
    lengths = [STEPS, 2, 0]
    for row, length in enumerate(lengths):
        projected[length:, row, : 2 * WIDTH] += PADDING_SHIFT
    arrays = (tf.cast(x, dtype) for x in (projected, kernel, mask))
    states = tf.cast(lstm_scan(*arrays, reverse=reverse), tf.float64).numpy()
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}[dtype]
    for row, length in enumerate(lengths):
        np.testing.assert_array_equal(states[length:, row], 0.0)
        alone = loop_lstm(projected[:length, row : row + 1], kernel, mask[row : row + 1], reverse)
        np.testing.assert_allclose(states[:length, row], alone[:, 0], atol=tolerance)


def test_padding_passes_no_gradient():
    projected, kernel, _ = make_arrays()
    projected[2:, 1, : 2 * WIDTH] += PADDING_SHIFT
    projected, kernel = tf.constant(projected), tf.constant(kernel)
    with tf.GradientTape() as tape:
        tape.watch([projected, kernel])
        loss = tf.reduce_sum(tf.square(lstm_scan(projected, kernel, reverse=True)))
    to_projected, to_kernel = tape.gradient(loss, [projected, kernel])
    np.testing.assert_array_equal(to_projected[2:, 1], 0.0)
    assert np.isfinite(to_kernel).all()


@pytest.mark.parametrize("reverse", [False, True])
def test_one_trace_serves_any_shape(reverse):
    kernel = tf.constant(make_arrays(dtype=np.float32)[1])
    spec = tf.TensorSpec([None, None, 4 * WIDTH])

    @tf.function(input_signature=[spec, tf.TensorSpec([None, WIDTH])])
    def run(projected, mask):
        with tf.GradientTape() as tape:
            tape.watch(projected)
            states = lstm_scan(projected, kernel, mask, reverse=reverse)
        return states, tape.gradient(states, projected)

    for steps, rows in ((STEPS, ROWS), (1, 1), (7, 2)):
        projected, _, mask = make_arrays(steps, rows, dtype=np.float32)
        states, gradient = run(tf.constant(projected), tf.constant(mask))
        expected = loop_lstm(projected, kernel.numpy(), mask, reverse)
        np.testing.assert_allclose(states, expected, atol=1e-5)
        assert gradient.shape == projected.shape
    assert run.experimental_get_tracing_count() == 1


def test_no_steps_and_no_rows():
    for steps, rows in ((0, 2), (3, 0)):
        projected, kernel, _ = make_arrays(steps, rows, dtype=np.float32)
        states = tf.function(lstm_scan)(tf.constant(projected), tf.constant(kernel))
        assert states.shape == [steps, rows, WIDTH]


def test_saved_model(tmp_path):
    projected, kernel, mask = (tf.constant(x) for x in make_arrays(dtype=np.float32))
    module = tf.Module()
    module.kernel = tf.Variable(kernel)
    specs = [tf.TensorSpec([None, None, 4 * WIDTH]), tf.TensorSpec([None, WIDTH])]
    module.run = tf.function(
        lambda x, m: lstm_scan(x, tf.convert_to_tensor(module.kernel), m), input_signature=specs
    )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    expected = lstm_scan(projected, kernel, mask)
    np.testing.assert_allclose(loaded.run(projected, mask), expected, atol=1e-6)
