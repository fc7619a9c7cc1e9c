"""Beam search against the enumeration of every label sequence."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.chain import beam_search
from uanet_tf.ops.graphs import graph_function

LENGTHS, STEPS, CLASSES = [4, 1, 3, 0, 2], 4, 3
MASK = np.arange(STEPS) < np.array(LENGTHS)[:, np.newaxis]
RNG = np.random.default_rng(6)
LOCAL = (0.5 * RNG.normal(size=[len(LENGTHS), STEPS, CLASSES])).astype(np.float32)
PULL = (2 * RNG.normal(size=[CLASSES + 1, CLASSES])).astype(np.float32)


def log_softmax(x):
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def step(t, before, memory):
    """Scores that read the label before and, in the memory, every label before that."""
    memory = 0.5 * memory + tf.gather(PULL, before)  # [B, K, C]
    scores = tf.expand_dims(tf.constant(LOCAL)[: tf.shape(before)[0], t], 1) + memory
    return tf.nn.log_softmax(scores), memory


def path_score(row, path, order):
    before, memory, total = CLASSES, np.zeros(CLASSES), 0.0
    for t in order:
        memory = 0.5 * memory + PULL[before]
        total += log_softmax(LOCAL[row, t] + memory)[path[t]]
        before = path[t]
    return total


def search(beam_width, reverse=False):
    return beam_search(
        step,
        tf.zeros([len(LENGTHS), 1, CLASSES]),
        tf.constant(MASK),
        num_classes=CLASSES,
        beam_width=beam_width,
        reverse=reverse,
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("beam_width", [CLASSES ** (STEPS - 1), CLASSES**STEPS])
def test_all_beams_find_the_best(beam_width, reverse):
    labels, totals = search(beam_width, reverse)
    for row, length in enumerate(LENGTHS):
        order = list(range(length))[:: -1 if reverse else 1]
        paths = list(itertools.product(range(CLASSES), repeat=length))
        scores = [path_score(row, path, order) for path in paths]
        best = int(np.argmax(scores))
        assert labels[row, :length].numpy().tolist() == list(paths[best])
        assert not labels[row, length:].numpy().any()
        assert float(totals[row]) == pytest.approx(scores[best], abs=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
def test_one_beam_is_greedy(reverse):
    labels, totals = search(1, reverse)
    for row, length in enumerate(LENGTHS):
        order = list(range(length))[:: -1 if reverse else 1]
        path = [0] * length
        before, memory = CLASSES, np.zeros(CLASSES)
        for t in order:
            memory = 0.5 * memory + PULL[before]
            before = path[t] = int(np.argmax(LOCAL[row, t] + memory))
        assert labels[row, :length].numpy().tolist() == path
        assert float(totals[row]) == pytest.approx(path_score(row, path, order), abs=1e-5)


def test_some_beams_are_between():
    totals = [search(width)[1].numpy() for width in (1, 2, CLASSES**STEPS)]
    assert (totals[0] <= totals[2] + 1e-5).all()
    assert (totals[1] <= totals[2] + 1e-5).all()
    assert (totals[0] < totals[2] - 1e-3).any()  # else this test shows nothing


def test_graph_of_unknown_shapes():
    compiled = graph_function([tf.TensorSpec([None, None], tf.bool)])(
        lambda mask: beam_search(
            step,
            tf.zeros(tf.stack([tf.shape(mask)[0], 1, CLASSES])),
            mask,
            num_classes=CLASSES,
            beam_width=2,
        )
    )
    for one, other in zip(compiled(MASK), search(2), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_array_equal(compiled(MASK[:1, :3])[0].shape, [1, 3])
    np.testing.assert_array_equal(compiled(MASK[:1, :0])[0].shape, [1, 0])
