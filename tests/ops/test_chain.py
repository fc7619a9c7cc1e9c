import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import decode_spans
from uanet_tf.ops.chain import best_path, chunk_boundaries
from uanet_tf.ops.graphs import LiteGraph, graph_function

CLASSES = 3


def brute_force(scores, start, steps, end):
    """The best allowed path of [T, C] scores, by trying all."""
    best, found = -np.inf, None
    for path in itertools.product(range(CLASSES), repeat=len(scores)):
        allowed = start[path[0]] and end[path[-1]]
        allowed = allowed and all(steps[a, b] for a, b in itertools.pairwise(path))
        total = sum(row[k] for row, k in zip(scores, path, strict=True))
        if allowed and total > best:
            best, found = total, path
    return found


@pytest.mark.parametrize("seed", range(6))
def test_equals_brute_force(seed):
    random = np.random.default_rng(seed)
    lengths = [5, 1, 3, 4]
    scores = random.normal(size=[4, 5, CLASSES]).astype(np.float32)
    mask = np.arange(5) < np.array(lengths)[:, None]
    start, end = random.random([2, CLASSES]) < 0.7
    steps = random.random([CLASSES, CLASSES]) < 0.6
    start[0] = end[0] = steps[0, 0] = True  # so that there is an allowed path
    run = graph_function()(best_path) if seed % 2 else best_path
    path, _ = run(tf.constant(scores), tf.constant(mask), start, steps, end)
    for row, length, values in zip(path.numpy(), lengths, scores, strict=True):
        assert tuple(row[:length]) == brute_force(values[:length], start, steps, end)


@pytest.mark.parametrize("lite", [None, LiteGraph()])
def test_without_padding(lite):
    scores = tf.random.stateless_normal([2, 4, CLASSES], [1, 2])
    allowed = np.ones([CLASSES, CLASSES], bool)
    allowed[0, 1] = False
    mask = tf.ones([2, 4], tf.bool)
    expected, _ = best_path(scores, mask, allowed[2], allowed, allowed[2])
    found, _ = best_path(scores, None, allowed[2], allowed, allowed[2], lite)
    np.testing.assert_array_equal(found, expected)


def test_padding_is_never_looked_at():
    scores = np.zeros([1, 3, CLASSES], np.float32)
    scores[0, 2] = np.nan
    allowed = np.ones([CLASSES, CLASSES], bool)
    mask = tf.constant([[True, True, False]])
    path, _ = best_path(tf.constant(scores), mask, allowed[0], allowed, allowed[0])
    assert path.numpy()[0, :2].tolist() == [0, 0]


def test_without_an_allowed_path_there_is_still_an_answer():
    scores = tf.constant([[[0.0, 1.0, 0.0]] * 2])
    none = np.zeros([CLASSES, CLASSES], bool)
    path, _ = best_path(scores, tf.ones([1, 2], tf.bool), none[0], none, none[0])
    assert path.shape == [1, 2]


LABELS = ["O", *(f"{prefix}-{kind}" for kind in "XY" for prefix in "BIES")]
# One trace for any sentence: hypothesis calls this often.
SPECS = [tf.TensorSpec([None, None], dtype) for dtype in (tf.int32, tf.bool, tf.bool, tf.bool)]
compiled = graph_function(SPECS)(chunk_boundaries)


def read(sentences):
    """Booleans [B, T] for sentences of BIOES labels."""
    length = max(map(len, sentences))
    padded = [[*s, *["B-X"] * (length - len(s))] for s in sentences]  # garbage at padding
    types = [[" XY".index(label[2]) if label != "O" else 0 for label in s] for s in padded]
    starts = [[label[0] in "BS" for label in s] for s in padded]
    ends = [[label[0] in "ES" for label in s] for s in padded]
    mask = np.arange(length) < np.array([[len(s)] for s in sentences])
    return [x.numpy() for x in compiled(types, starts, ends, mask)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(LABELS), min_size=1, max_size=9), min_size=1, max_size=3))
def test_equals_the_spans_of_a_plain_reader(sentences):
    begins, finishes, touches = read(sentences)
    for row, labels in enumerate(sentences):
        spans = decode_spans(labels, "BIOES")
        assert np.flatnonzero(begins[row]).tolist() == [span.start for span in spans]
        assert np.flatnonzero(finishes[row]).tolist() == [span.end - 1 for span in spans]
        kinds = ["O" if label == "O" else label[2] for label in labels]
        expected = [k for k in range(1, len(kinds)) if kinds[k] != "O" and kinds[k] == kinds[k - 1]]
        assert np.flatnonzero(touches[row]).tolist() == expected


def test_adjacent_chunks():
    (begins,), (finishes,), (touches,) = read([["B-X", "E-X", "I-X", "S-X", "S-Y", "I-Y"]])
    assert begins.tolist() == [True, False, True, True, True, True]
    assert finishes.tolist() == [False, True, True, True, True, True]
    assert touches.tolist() == [False, True, True, True, False, True]


def test_a_sentence_of_padding_has_no_chunks():
    ones = tf.ones([1, 3], tf.bool)
    results = chunk_boundaries(tf.ones([1, 3], tf.int32), ones, ones, tf.zeros([1, 3], tf.bool))
    assert not np.any(results)
