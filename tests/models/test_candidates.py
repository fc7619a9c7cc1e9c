"""Candidates against brute force over all label sequences."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.models.contract_setup import make_sentences, make_vocabulary, pad, small
from uanet_lite.tag_schemes import decode_spans, is_valid_transition
from uanet_tf.arguments import ArgumentError
from uanet_tf.config import Config
from uanet_tf.data.vocabulary import MAX_LONGEST, class_labels, longest_entity
from uanet_tf.errors import InputError
from uanet_tf.models.build import make_tagger
from uanet_tf.models.candidates import LEAST, USUAL, Candidates
from uanet_tf.models.results import Draft

CLASSES = class_labels([["B-PER", "B-LOC"]], "IOB2")
TYPES = ["LOC", "PER"]


def brute_force(p):
    """{(first, after the last, type): probability} of [T, C] distributions, in plain Python."""
    found, total = {}, 0.0
    for path in itertools.product(range(len(CLASSES)), repeat=len(p)):
        labels = [CLASSES[k] for k in path]
        steps = itertools.pairwise([None, *labels, None])
        if all(is_valid_transition(*step, "BIOES") for step in steps):
            weight = np.prod([row[k] for row, k in zip(p, path, strict=True)])
            total += weight
            for span in decode_spans(labels, "BIOES"):
                key = span.start, span.end, span.type
                found[key] = found.get(key, 0.0) + weight
    return {key: weight / total for key, weight in found.items()}


def drafted(p, lengths):
    """A draft with the distributions [B, T, C]."""
    mask = np.arange(p.shape[1]) < np.array(lengths)[:, None]
    ids = tf.argmax(p, axis=-1, output_type=tf.int32)
    return Draft(ids, p, tf.zeros(p.shape[:2]), tf.constant(mask))


def drawn(shape, seed, sharpness=1.0):
    logits = sharpness * np.random.default_rng(seed).normal(size=[*shape, len(CLASSES)])
    return tf.nn.softmax(tf.constant(logits, tf.float32))


def layer(longest=4, least=0.0):
    found = Candidates(CLASSES, longest)
    found.set_target(0.0, np.full(2, least))
    return found


def test_equals_brute_force():
    lengths = [4, 1, 3]
    p = drawn([3, 4], 1)
    found = layer()(drafted(p, lengths)).numpy().reshape(3, 4, 4, 2)
    for row, length in enumerate(lengths):
        q = p.numpy()[row, :length].astype(np.float64)
        expected = np.zeros([4, 4, 2])
        for (first, end, name), value in brute_force(q).items():
            expected[first, end - first - 1, TYPES.index(name)] = value
        expected[expected < LEAST] = 0.0
        np.testing.assert_allclose(found[row], expected, atol=2e-5)
    assert (found > 0).sum() > 20


def test_longer_spans_count_but_are_not_given():
    p = drawn([1, 4], 3)
    full = layer(4)(drafted(p, [4])).numpy().reshape(4, 4, 2)
    short = layer(2)(drafted(p, [4])).numpy().reshape(4, 2, 2)
    np.testing.assert_allclose(short, full[:, :2], rtol=1e-6)
    assert full[:, 2:].any()


def test_a_long_sentence_and_padding_cost_no_digits():
    """Where nothing follows, and between two tokens that are surely outside, as by itself."""
    sure = np.zeros([1, 1, len(CLASSES)], np.float32)
    sure[..., 0] = 1.0
    part = drawn([1, 3], 2)
    parts = [drawn([1, 400], 4, 8.0), sure, part, sure, drawn([1, 300], 5, 8.0)]
    far = layer(3)(drafted(tf.concat(parts, axis=1), [705])).numpy()[0, 401:404]
    alone = layer(3)(drafted(part, [3])).numpy()[0]
    np.testing.assert_allclose(far, alone, atol=1e-5)
    padded = layer(3)(drafted(tf.concat([part, drawn([1, 5], 6)], axis=1), [3])).numpy()[0]
    np.testing.assert_allclose(padded[:3], alone, atol=1e-6)
    assert not padded[3:].any()


def test_map_and_thresholds():
    p = drawn([1, 4], 7)
    one = layer()
    plain = one(drafted(p, [4])).numpy().reshape(-1, 2)
    one.set_map(np.array([0.5, -1.0]))
    one.set_target(0.9, np.array([0.12, 0.1]))
    found = one(drafted(p, [4])).numpy().reshape(-1, 2)
    with np.errstate(divide="ignore"):
        expected = 1 / (1 + np.exp(1 - 0.5 * (np.log(plain) - np.log1p(-plain))))
    expected = np.where(expected >= [0.12, 0.1], expected, 0.0)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert one.target_value == 0.9
    assert (found > 0).any(0).all()
    one.reset()
    assert one.target_value == 0.0
    assert one.thresholds.numpy() == pytest.approx([USUAL, USUAL])


def test_wrong_values():
    for values in ([-1.0, 0.0], [1.0], [np.nan, 0.0]):
        with pytest.raises(ArgumentError, match="2 finite numbers"):
            layer().set_map(np.array(values))
    for target, thresholds in ((1.0, [0.1, 0.1]), (0.5, [0.1]), (0.5, [0.1, -1.0])):
        with pytest.raises(ArgumentError, match="2 numbers of at least 0"):
            layer().set_target(target, np.array(thresholds))


def test_the_longest_entity_of_training():
    ones = [["B-X", "O"]] * 1998
    assert longest_entity([*ones, ["B-X", *["I-X"] * 8]], "IOB2") == 1
    assert longest_entity([*ones, *[["B-X", *["I-X"] * 8]] * 3], "IOB2") == 9
    assert longest_entity([["B-X", *["I-X"] * 200]], "IOB2") == MAX_LONGEST
    assert longest_entity([["O"]], "IOB2") == longest_entity([["NN"]], None) == 1


# ------------------------------------------------------------------------ of a tagger


def tagger(scheme, **settings):
    light = {"representation": "words", "encoder": "none", "return_candidates": True}
    config = small(Config().replace(**light, **settings))
    return make_tagger(config, make_vocabulary(make_sentences(scheme), scheme))


@pytest.mark.parametrize("scheme", ["IOB1", "BMES"])
def test_whatever_the_scheme_of_the_file(scheme):
    """As brute force says of the draft's distributions; the same places as entities have."""
    model = tagger(scheme)
    model.candidates.set_target(0.0, np.full(2, 0.01))
    sentences = [["met", "New", "York"], ["Bo", "van"]]
    draft = model.decide(model.features(pad(sentences, 1, "York"))).draft
    for row, answer in enumerate(uanet_tf.tag(model, sentences)):
        p = draft.probabilities.numpy()[row, : len(answer)].astype(np.float64)
        expected = {key: value for key, value in brute_force_of(model, p).items() if value >= 0.01}
        found = {(c.token_start, c.token_end, c.type): c.probability for c in answer.candidates}
        assert found == pytest.approx(expected, abs=1e-5)
        for each in answer.candidates:
            assert each.text == " ".join(answer.tokens[each.token_start : each.token_end])
            assert answer.text[each.start : each.end] == each.text
        assert answer.to_dict()["candidates"][0].keys() == set(each._fields)


def brute_force_of(model, p):
    order = [model.class_names.index(name) for name in CLASSES]
    found = brute_force(p[:, order])
    longest = model.vocabulary.longest
    return {key: value for key, value in found.items() if key[1] - key[0] <= longest}


def test_only_where_they_are_asked_for_and_labels_are_chunks():
    model = tagger("IOB2")
    model.return_candidates = False
    (answer,) = uanet_tf.tag(model, [["met", "Ann"]])
    assert answer.candidates is None
    assert "candidates" not in answer.to_dict()
    light = {"representation": "words", "encoder": "none"}
    labels = make_vocabulary(make_sentences(None), None)
    model = make_tagger(small(Config().replace(**light)), labels)
    with pytest.raises(InputError, match="`return_candidates` is for entities"):
        model.return_candidates = True


def test_a_part_of_a_sentence_has_its_candidates():
    model = tagger("IOB2")
    model.candidates.set_target(0.0, np.full(2, 0.01))
    (answer,) = uanet_tf.tag(model, [["met", "New", "York", "Ann"]])
    part = answer.part(1, 3)
    inside = [c for c in answer.candidates if c.token_start >= 1 and c.token_end <= 3]
    assert [(c.text, c.type, c.probability) for c in part.candidates] == [
        (c.text, c.type, c.probability) for c in inside
    ]
    assert all(part.text[c.start : c.end] == c.text for c in part.candidates)
    assert len(inside) < len(answer.candidates)
