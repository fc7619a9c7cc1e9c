"""Written-out gradients hold on to no graph."""

import gc
import weakref

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.convolution import dilated_convolution
from uanet_tf.ops.graphs import graph_function, with_gradient
from uanet_tf.ops.recurrence import gru_scan, lstm_scan

WIDTH = 2
INPUTS = tf.constant(np.random.default_rng(1).normal(size=[5, 3, 4 * WIDTH]), tf.float32)
OPERATIONS = {
    "lstm": lambda x, k: lstm_scan(x, k[0], tf.fill([3, WIDTH], 0.5)),
    "lstm without a mask": lambda x, k: lstm_scan(x, k[0], reverse=True),
    "gru": lambda x, k: gru_scan(x[..., : 3 * WIDTH], k[0, :, : 3 * WIDTH]),
    "convolution": lambda x, k: dilated_convolution(x[..., :WIDTH], k, 2),
}
by_operation = pytest.mark.parametrize("name", OPERATIONS)


def make(operation):
    """A function from inputs to a loss with its gradients, and its kernel."""
    weights = np.random.default_rng(2).normal(size=[1, WIDTH, 4 * WIDTH])
    kernel = tf.Variable(weights, dtype=tf.float32)

    def loss_and_gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.sin(operation(x, tf.convert_to_tensor(kernel))))
        return (loss, *tape.gradient(loss, [x, kernel]))

    return loss_and_gradients, kernel


@by_operation
def test_a_graph_is_let_go(name):
    run, _ = make(OPERATIONS[name])
    run = graph_function()(run)
    graph = weakref.ref(run.get_concrete_function(INPUTS).graph)
    assert graph() is not None
    del run
    gc.collect()
    assert graph() is None


@by_operation
def test_gradients_are_the_same_wherever_they_are_taken(name):
    """By a tape in a graph, by one around a graph, in a branch within it, and without a graph."""
    run, kernel = make(OPERATIONS[name])
    expected = run(INPUTS)
    for value, other in zip(graph_function()(run)(INPUTS), expected, strict=True):
        np.testing.assert_allclose(value, other, atol=1e-5)

    @graph_function()
    def branch(x):
        weights = tf.convert_to_tensor(kernel)
        return tf.cond(tf.size(x) > 0, lambda: OPERATIONS[name](x, weights), lambda: x)

    with tf.GradientTape() as tape:
        tape.watch(INPUTS)
        loss = tf.reduce_sum(tf.sin(branch(INPUTS)))
    gradients = tape.gradient(loss, [INPUTS, kernel])
    for value, other in zip((loss, *gradients), expected, strict=True):
        np.testing.assert_allclose(tf.convert_to_tensor(value), other, atol=1e-5)


def test_a_saved_function_keeps_its_gradient(tmp_path):
    module = tf.Module()
    module.run = graph_function([tf.TensorSpec([None])])(
        lambda x: with_gradient(x * x, [x], lambda d, x, two: [d * x * two], [x * 0.0 + 7.0])
    )
    tf.saved_model.save(module, str(tmp_path))
    x = tf.constant([1.0, 3.0])
    for run in (module.run, tf.saved_model.load(str(tmp_path)).run):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(run(x))
        np.testing.assert_array_equal(tape.gradient(loss, x), [7.0, 21.0])


def test_a_graph_of_each_model_is_no_reason_to_warn(monkeypatch):
    warnings = []
    monkeypatch.setattr(tf.get_logger(), "warning", lambda *message: warnings.append(message))
    for _ in range(12):

        @graph_function()
        def double(x):
            return 2 * x

        assert double(tf.constant(3)).numpy() == 6
    assert not warnings
