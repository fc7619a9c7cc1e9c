"""Likelihood and best sequence against the enumeration of all, and against TensorFlow Addons."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops import chain
from uanet_tf.ops.graphs import LiteGraph, graph_function

LENGTHS, STEPS, CLASSES = [4, 1, 3, 0, 2], 4, 3


def make_arrays(seed=0, dtype=np.float64, lengths=LENGTHS, steps=STEPS):
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=[len(lengths), steps, CLASSES])
    transitions = rng.normal(size=[CLASSES, CLASSES])
    labels = rng.integers(0, CLASSES, [len(lengths), steps])
    return scores.astype(dtype), labels, np.array(lengths), transitions.astype(dtype)


def test_padding_is_never_looked_at():
    scores, labels, lengths, transitions = make_arrays()
    padding = np.arange(STEPS) >= lengths[:, np.newaxis]
    noise, wrong = scores.copy(), labels.copy()
    noise[padding], wrong[padding] = np.nan, 77
    results = []
    for one, two in ((scores, labels), (noise, wrong)):
        inputs = tf.constant(one)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            likelihood, _ = chain.crf_log_likelihood(inputs, two, lengths, transitions)
        paths, _ = chain.crf_decode(inputs, tf.constant(transitions), lengths)
        results.append((likelihood, tape.gradient(likelihood, inputs), paths[:3]))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not results[0][1].numpy()[padding].any()


def loss_and_gradients(supplier, arrays, in_graph):
    scores, labels, lengths, transitions = arrays

    def compute(scores, transitions):
        with tf.GradientTape() as tape:
            tape.watch([scores, transitions])
            likelihood, _ = supplier.crf_log_likelihood(scores, labels, lengths, transitions)
        zero = tf.UnconnectedGradients.ZERO  # Addons' for single tokens
        sources = [scores, transitions]
        return [likelihood, *tape.gradient(likelihood, sources, unconnected_gradients=zero)]

    run = graph_function()(compute) if in_graph else compute
    return run(tf.constant(scores), tf.constant(transitions))


@pytest.mark.parametrize(("steps", "in_graph"), [(1, False), (4, True), (60, False)])
def test_equals_tensorflow_addons(steps, in_graph):
    """Values and gradients, in float32 and for the lengths of real sentences too."""
    addons = pytest.importorskip("tensorflow_addons", reason="needs TensorFlow Addons").text
    lengths = [steps, 1, steps // 2, 0, max(1, steps - 1)]
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 1e-4)):
        arrays = make_arrays(5, dtype, lengths, steps)
        ours, theirs = (loss_and_gradients(each, arrays, in_graph) for each in (chain, addons))
        for one, two in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, two, rtol=0, atol=tolerance)
        scores, _, lengths, transitions = arrays
        decoded = [
            each.crf_decode(tf.constant(scores), tf.constant(transitions), tf.constant(lengths))
            for each in (chain, addons)
        ]
        mask = np.arange(steps) < np.array(lengths)[:, np.newaxis]
        np.testing.assert_array_equal(*(np.where(mask, paths, 0) for paths, _ in decoded))
        real = np.array(lengths) > 0
        np.testing.assert_allclose(*(best.numpy()[real] for _, best in decoded), rtol=1e-5)


def test_unknown_shapes_and_blocks():
    """As a SavedModel and a TensorFlow Lite file are traced."""
    scores, labels, lengths, transitions = make_arrays(dtype=np.float32)
    expected = chain.crf_decode(tf.constant(scores), tf.constant(transitions), lengths)
    specs = (
        tf.TensorSpec([None, None, CLASSES]),
        tf.TensorSpec([CLASSES, CLASSES]),
        tf.TensorSpec([None], tf.int64),
    )
    plain = graph_function(specs)(chain.crf_decode)
    blocks = graph_function(specs)(lambda *given: chain.crf_decode(*given, LiteGraph()))
    for run in (plain, blocks):
        found = run(tf.constant(scores), tf.constant(transitions), tf.constant(lengths))
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6)
    likelihood = graph_function(
        (specs[0], tf.TensorSpec([None, None], tf.int64), specs[2], specs[1])
    )(chain.crf_log_likelihood)
    np.testing.assert_allclose(
        likelihood(scores, labels, lengths, transitions)[0],
        chain.crf_log_likelihood(scores, labels, lengths, transitions)[0],
        rtol=1e-5,
    )
