import itertools

import numpy as np
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import is_valid_transition
from uanet_tf.data.vocabulary import class_labels
from uanet_tf.inference.valid_labels import ValidLabels
from uanet_tf.ops.graphs import graph_function, unpadded

NAMES = class_labels([["B-PER", "O", "B-LOC"]], "IOB2")
CLASSES = len(NAMES)
STEPS = 4
RUN = graph_function([tf.TensorSpec([None, None, CLASSES]), tf.TensorSpec([None, None], tf.bool)])(
    lambda p, mask: ValidLabels(NAMES, "BIOES")([argmax(p, mask)], [p], mask)[0]
)


def argmax(p, mask):
    return tf.where(mask, tf.argmax(p, axis=-1, output_type=tf.int32), 0)


def is_valid(ids):
    names = [None, *[NAMES[k] for k in ids], None]
    return all(is_valid_transition(a, b, "BIOES") for a, b in itertools.pairwise(names))


def most_probable(p):
    """The most probable valid sequence of [T, C], by trying all."""
    paths = [ids for ids in itertools.product(range(CLASSES), repeat=len(p)) if is_valid(ids)]
    return max(paths, key=lambda ids: sum(np.log(row[k]) for row, k in zip(p, ids, strict=True)))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_is_the_most_probable_valid_sequence(seed):
    random = np.random.default_rng(seed)
    lengths = [STEPS, 2, 1]
    p = random.dirichlet(np.full(CLASSES, 0.3), [3, STEPS]).astype(np.float32)
    p = np.maximum(p, 1e-6)
    mask = np.arange(STEPS) < np.array(lengths)[:, None]
    ids = RUN(p, mask).numpy()
    for row, values, length in zip(ids, p, lengths, strict=True):
        assert tuple(row[:length]) == most_probable(values[:length])
        assert not row[length:].any()


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.integers(1, STEPS))
def test_one_sentence_has_the_labels_that_it_has_among_others(seed, length):
    """A graph may know that there is one; equal probabilities do not move a valid sequence."""
    p = np.random.default_rng(seed).integers(1, 4, [2, length, CLASSES]).astype(np.float32)
    mask = tf.ones([1, length], tf.bool)
    given = [p[:1], p[1:]]
    alone = ValidLabels(NAMES, "BIOES")([argmax(each, mask) for each in given], given, mask)
    for found, each in zip(alone, given, strict=True):
        np.testing.assert_array_equal(found, RUN(each, mask))
        if is_valid(argmax(each, mask).numpy()[0]):
            np.testing.assert_array_equal(found, argmax(each, mask))
    with unpadded():  # where no mask is read
        none = tf.zeros([1, length], tf.bool)
        again = ValidLabels(NAMES, "BIOES")([argmax(each, mask) for each in given], given, none)
    np.testing.assert_array_equal(tf.stack(again), tf.stack(alone))


def test_valid_sequences_stay_and_labellings_stay_apart():
    o, b, e = (NAMES.index(name) for name in ("O", "B-PER", "E-PER"))
    first = tf.one_hot([[o, b, e]], CLASSES) * 0.9 + 0.01
    second = tf.one_hot([[b, e, b]], CLASSES) * 0.9 + 0.01
    mask = tf.ones([1, 3], tf.bool)
    ids = [argmax(p, mask) for p in (first, second)]
    kept, mended = ValidLabels(NAMES, "BIOES")(ids, [first, second], mask)
    assert kept.numpy().tolist() == [[o, b, e]]
    assert mended.numpy()[0, :2].tolist() == [b, e]
    assert is_valid(mended.numpy()[0])


def test_labels_that_are_no_chunks_are_left_alone():
    ids = tf.constant([[1, 0]])
    p, mask = tf.ones([1, 2, 2]), tf.ones([1, 2], tf.bool)
    assert ValidLabels(["NN", "VB"], None)([ids], [p], mask)[0] is ids


def test_no_sentences_give_no_labels():
    assert RUN(tf.zeros([0, 3, CLASSES]), tf.zeros([0, 3], tf.bool)).shape == [0, 3]
