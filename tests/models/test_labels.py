"""Labels with and without the search for the most probable valid sequence."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.contract_setup import make_sentences, pad
from tests.models.tagger_setup import make_batch, make_model
from uanet_lite.tag_schemes import (
    SCHEMES,
    Span,
    convert,
    decode_spans,
    encode_spans,
    is_valid_transition,
    valid_transitions,
)
from uanet_tf.data.vocabulary import class_labels
from uanet_tf.models.labels import OutputChunks, OutputLabels, ValidLabels
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
    test = settings(max_examples=25, deadline=None)(given(data=st.data())(test))
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
    letters["BMEWO"] = "BMEW"
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


LENGTH = 6


@st.composite
def labellings(draw, scheme):
    """Labels of a sentence, with chunks of two types, one of which has no name in the labels."""
    length, spans, start = draw(st.integers(1, LENGTH)), [], 0
    while start < length:
        end = draw(st.integers(start + 1, length))
        kind = draw(st.sampled_from([None, "PER", "LOC"]))
        if kind:
            spans.append(Span(kind, start, end))
        start = end
    return encode_spans(spans, length, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_chunks_of_valid_labels(scheme, data):
    sentences = data.draw(st.lists(labellings(scheme), min_size=1, max_size=3))
    names = sorted({label for labels in sentences for label in labels} | {"O"})
    ids = np.zeros([len(sentences), LENGTH], np.int32)
    mask = np.zeros([len(sentences), LENGTH], bool)
    for row, labels in enumerate(sentences):
        ids[row, : len(labels)] = [names.index(label) for label in labels]
        ids[row, len(labels) :] = data.draw(st.integers(0, len(names) - 1))  # padding
        mask[row, : len(labels)] = True
    chunks = OutputChunks(names)(tf.constant(ids), tf.constant(mask))
    expected = [
        (row, *span)
        for row, labels in enumerate(sentences)
        for span in decode_spans(labels, scheme)
    ]
    actual = [
        (int(first[0]), kind.decode(), int(first[1]), int(last[1]) + 1)
        for kind, first, last in zip(
            chunks.types.numpy(), chunks.first.numpy(), chunks.last.numpy(), strict=True
        )
    ]
    assert actual == expected
    assert chunks.counts.numpy().tolist() == [
        len(decode_spans(labels, scheme)) for labels in sentences
    ]
    tokens = [
        (row, k, number)
        for number, (row, _, start, end) in enumerate(expected)
        for k in range(start, end)
    ]
    assert [*map(tuple, np.argwhere(chunks.inside.numpy()))] == [each[:2] for each in tokens]
    assert chunks.of_token.numpy().tolist() == [each[2] for each in tokens]


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
    again = ValidLabels(NAMES, "BIOES")([argmax(each, mask) for each in given], given, None)
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


def test_labels_token_by_token():
    """Without the search for valid sequences each token has its most probable label."""
    model = make_model(num_samples=0)
    features, _ = make_batch(model)
    searched = model.decide(features)
    model.valid_labels = False
    decided = model.decide(features)
    mask = decided.draft.mask.numpy()
    for result, greedy in ((searched, False), (decided, True)):
        likeliest = tf.argmax(result.probabilities, axis=-1).numpy()[mask]
        assert (result.label_ids.numpy()[mask] == likeliest).all() == greedy


@pytest.mark.parametrize("refine_all", [True, False])
def test_draft_gated_and_refined_labels_are_each_searched(refine_all):
    """Of each the most probable valid sequence, found by trying all."""
    sentences = make_sentences("IOB2", 40)
    model = make_model(sentences, num_samples=0)
    features = model.features(pad([list(sentence.tokens)[:3] for sentence in sentences]))
    model.threshold = float(np.median(model.draft(features).uncertainty))
    model.refine_all = refine_all
    decided = model.decide(features)
    refined = model.refine(features, decided.draft).numpy()
    if not refine_all:
        refined = decided.probabilities.numpy()
    sources = {
        "draft": (decided.draft.label_ids, decided.draft.probabilities.numpy()),
        "gated": (decided.label_ids, decided.probabilities.numpy()),
        "refined": (decided.refined_label_ids, refined),
    }
    start, steps, end = valid_transitions(model.class_names, model.vocabulary.internal_scheme)
    lengths = decided.draft.mask.numpy().sum(axis=1)
    for name, (found, p) in sources.items():
        assert (p.argmax(-1) != found.numpy())[decided.draft.mask.numpy()].any(), name
        for row, length in enumerate(lengths):
            best = max(
                (
                    path
                    for path in itertools.product(range(p.shape[-1]), repeat=int(length))
                    if start[path[0]] and end[path[-1]]
                    if all(steps[pair] for pair in itertools.pairwise(path))
                ),
                key=lambda path: sum(np.log(p[row, k, label]) for k, label in enumerate(path)),
            )
            assert tuple(found[row, :length].numpy()) == best, name
    if refine_all:
        assert (decided.label_ids.numpy() != decided.refined_label_ids.numpy()).any()
