import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function
from uanet_tf.training.optimizers import LazyAdamW

STEPS = 5


def table(rows=6, width=3):
    return tf.Variable(np.random.default_rng(0).normal(size=(rows, width)).astype("f"))


def gradients(rows=6, width=3):
    random = np.random.default_rng(1)
    return [random.normal(size=(rows, width)).astype("f") for _ in range(STEPS)]


def train(optimizer, given, rows=None):
    """The table after a few steps; ``rows``: sparse gradients with these rows only."""
    variable = table()
    optimizer.build([variable])
    for gradient in given:
        value = tf.constant(gradient)
        if rows is not None:
            value = tf.IndexedSlices(tf.gather(value, rows), tf.constant(rows), tf.shape(variable))
        optimizer.apply_gradients([(value, variable)])
    return variable.numpy()


def test_dense_equals_keras_adam():
    expected = train(tf.keras.optimizers.Adam(0.05), gradients())
    np.testing.assert_allclose(train(LazyAdamW(0.05), gradients()), expected, rtol=1e-5, atol=1e-6)


def test_decoupled_decay_equals_keras_adamw():
    expected = train(tf.keras.optimizers.AdamW(0.05, weight_decay=0.1), gradients())
    found = train(LazyAdamW(0.05, decoupled_decay=0.1), gradients())
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_sparse_equals_dense_where_all_rows_are_used(decay):
    """But for epsilon and the order of decay and update, both too small to be seen here."""
    dense = train(LazyAdamW(0.01, decoupled_decay=decay), gradients())
    order = [3, 0, 5, 1, 2, 4]
    sparse = train(LazyAdamW(0.01, decoupled_decay=decay), gradients(), rows=order)
    np.testing.assert_allclose(sparse, dense, rtol=1e-4, atol=1e-4)
    if not decay:
        np.testing.assert_allclose(sparse, dense, rtol=1e-5, atol=1e-6)


def test_unused_rows_are_left_alone():
    optimizer = LazyAdamW(0.05, decoupled_decay=0.1)
    after = train(optimizer, gradients(), rows=[1, 4])
    before = table().numpy()
    unused = [0, 2, 3, 5]
    np.testing.assert_array_equal(after[unused], before[unused])
    assert np.all(after[[1, 4]] != before[[1, 4]])
    moments = [v for v in optimizer.variables if v.shape == before.shape]
    assert len(moments) == 2
    for moment in moments:
        assert not np.any(moment.numpy()[unused])
        assert np.all(moment.numpy()[[1, 4]] != 0)


def test_schedules_are_followed():
    schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [0.05, 0.0])
    only_first = train(LazyAdamW(0.05), gradients()[:1])
    np.testing.assert_allclose(train(LazyAdamW(schedule), gradients()), only_first, rtol=1e-6)


def test_comes_back_from_its_config():
    optimizer = LazyAdamW(0.05, decoupled_decay=0.1, beta_1=0.8, epsilon=1e-5)
    copy = tf.keras.optimizers.deserialize(tf.keras.optimizers.serialize(optimizer))
    assert isinstance(copy, LazyAdamW)
    assert copy.get_config() == optimizer.get_config()
    assert copy.decoupled_decay == 0.1


def test_powers_are_computed_once_per_step():
    variables = [table() for _ in range(5)]
    optimizer = LazyAdamW(0.05)
    optimizer.build(variables)

    @graph_function()
    def step():
        optimizer.apply_gradients([(tf.ones_like(v), v) for v in variables])

    graph = step.get_concrete_function().graph
    assert [op.type for op in graph.get_operations()].count("Pow") == 2
