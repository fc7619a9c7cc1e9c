import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import SCHEMES, convert, is_valid_transition
from uanet_tf.data.vocabulary import class_labels
from uanet_tf.inference.output_labels import OutputLabels
from uanet_tf.ops.graphs import graph_function

TYPED = class_labels([["B-PER", "O", "B-LOC", "B-a-b"]], "IOB2")
UNTYPED = class_labels([["B", "I", "O"]], "IOB2")
SPECS = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None], tf.bool)]


def make_reader(classes, scheme):
    outputs = OutputLabels(classes, scheme)
    return outputs, graph_function(SPECS)(outputs.__call__)


READERS = {
    (scheme, typed): make_reader(TYPED if typed else UNTYPED, scheme)
    for scheme in SCHEMES
    for typed in (True, False)
}


def read(scheme, typed, sentences, garbage=1):
    """Labels of sentences of class ids, padded with a class that would matter."""
    outputs, run = READERS[scheme, typed]
    length = max(map(len, sentences))
    ids = [[*s, *[garbage] * (length - len(s))] for s in sentences]
    mask = np.arange(length) < np.array([[len(s)] for s in sentences])
    positions = run(np.array(ids, np.int32), mask).numpy()
    return [
        [outputs.names[k] for k in row[: len(s)]]
        for row, s in zip(positions, sentences, strict=True)
    ]


def in_each_scheme(test):
    """The test for each scheme, of chunks with and without types, on data of Hypothesis."""
    test = settings(max_examples=50, deadline=None)(given(data=st.data())(test))
    return pytest.mark.parametrize(("scheme", "typed"), READERS)(test)


@in_each_scheme
def test_equals_the_lenient_conversion(scheme, typed, data):
    """Any class sequence, valid or not, becomes the valid sequence with the same spans."""
    classes = TYPED if typed else UNTYPED
    sentence = st.lists(st.integers(0, len(classes) - 1), min_size=1, max_size=10)
    sentences = data.draw(st.lists(sentence, min_size=1, max_size=4))
    garbage = data.draw(st.integers(0, len(classes) - 1))
    for ids, labels in zip(sentences, read(scheme, typed, sentences, garbage), strict=True):
        assert labels == convert([classes[k] for k in ids], "BIOES", scheme)
        for before, after in zip([None, *labels], [*labels, None], strict=True):
            assert is_valid_transition(before, after, scheme)


@in_each_scheme
def test_valid_sequences_may_be_read_class_by_class(scheme, typed, data):
    classes = TYPED if typed else UNTYPED
    ids = [0]
    while len(ids) < 9:
        following = [k for k, name in enumerate(classes) if follows(classes[ids[-1]], name)]
        ids.append(data.draw(st.sampled_from(following)))
    if not follows(classes[ids[-1]], None):
        ends = [k for k, name in enumerate(classes) if follows(name, None)]
        ids.append(next(k for k in ends if follows(classes[ids[-1]], classes[k])))
    outputs, run = READERS[scheme, typed]
    row, mask = tf.constant([ids]), tf.ones([1, len(ids)], tf.bool)
    np.testing.assert_array_equal(outputs(row, mask, are_valid=True), run(row, mask))


def follows(before, after):
    return is_valid_transition(before, after, "BIOES")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_output_label_is_named_once(scheme):
    names = READERS[scheme, True][0].names
    letters = {"IOB1": "BI", "IOB2": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}
    expected = {"O"} | {f"{x}-{kind}" for x in letters[scheme] for kind in ("PER", "LOC", "a-b")}
    assert set(names) == expected
    assert len(names) == len(expected)
    assert names[0] == "O"


def test_labels_that_are_not_chunks_are_the_classes():
    outputs = OutputLabels(["NN", "B-X", "O"], None)
    assert outputs.names == ["NN", "B-X", "O"]
    ids = tf.constant([[2, 1, 1]])
    np.testing.assert_array_equal(outputs(ids, tf.ones([1, 3], tf.bool)), ids)


def test_outside_only():
    outputs = OutputLabels(["O"], "IOB2")
    assert outputs.names == ["O"]
    positions = outputs(tf.zeros([2, 3], tf.int32), tf.ones([2, 3], tf.bool))
    np.testing.assert_array_equal(positions, np.zeros([2, 3]))


def test_a_type_may_be_called_o():
    outputs = OutputLabels(["O", "B-O", "I-O", "E-O", "S-O"], "IOB2")
    positions = outputs(tf.constant([[4, 0, 1, 3]]), tf.ones([1, 4], tf.bool)).numpy()[0]
    assert [outputs.names[k] for k in positions] == ["B-O", "O", "B-O", "I-O"]
