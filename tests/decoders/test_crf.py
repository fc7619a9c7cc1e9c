"""Likelihood, best sequence and marginals against the enumeration of every sequence."""

import importlib.util
import itertools
import json
import math

import numpy as np
import pytest
import tensorflow as tf

from uanet_lite.tag_schemes import is_valid_transition
from uanet_tf.decoders import crf
from uanet_tf.decoders.crf import IMPOSSIBLE, CRFDecoder
from uanet_tf.ops import chain as ops_crf

NAMES = ["O", "B-X", "E-X", "S-X"]
CLASSES, STEPS, WIDTH = 4, 4, 5
LENGTHS = [4, 1, 3, 0, 2]
MASK = np.arange(STEPS) < np.array(LENGTHS)[:, np.newaxis]


def make_states(samples=1) -> np.ndarray:
    shape = [samples, len(LENGTHS), STEPS, WIDTH]
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def make_decoder(**kwargs) -> CRFDecoder:
    decoder = CRFDecoder(CLASSES, **kwargs)
    decoder.decide(make_states(), MASK)
    rng = np.random.default_rng(9)
    decoder.set_weights([rng.normal(size=w.shape) for w in decoder.get_weights()])
    return decoder


def enumerate_paths(decoder: CRFDecoder, emissions: np.ndarray) -> dict[tuple[int, ...], float]:
    """{sequence: score}, one number at a time, from the definition in the docstring."""
    transitions, start, end = (
        w.numpy().astype(float) for w in (decoder.transitions, decoder.start, decoder.end)
    )
    names = decoder.label_names
    scores = {}
    for path in itertools.product(range(CLASSES), repeat=len(emissions)):
        score = sum(emissions[t][label] for t, label in enumerate(path))
        for one, two in itertools.pairwise([None, *path, None]):
            if names and not is_valid_transition(
                None if one is None else names[one], None if two is None else names[two], "BIOES"
            ):
                score += IMPOSSIBLE
            elif one is None:
                score += start[two]
            elif two is None:
                score += end[one]
            else:
                score += transitions[one, two]
        scores[path] = score
    return scores


def emissions_of(decoder, states):
    return states @ decoder.kernel.numpy() + decoder.bias.numpy()


def log_sum(scores) -> float:
    top = max(scores)
    return top + math.log(sum(math.exp(score - top) for score in scores))


both = pytest.mark.parametrize("names", [None, NAMES])


@both
def test_likelihood(names):
    decoder, states = make_decoder(label_names=names), make_states()[0]
    for paths in (
        [(0, 1, 2, 3), (3,), (1, 2, 0), (), (0, 3)],
        [(3, 3, 0, 0), (0,), (0,) * 3, (), (3, 0)],
    ):
        labels, expected = np.full(MASK.shape, 2), 0.0
        for row, path in enumerate(paths):
            labels[row, : len(path)] = path
            if path:
                scores = enumerate_paths(decoder, emissions_of(decoder, states[row, : len(path)]))
                expected += log_sum(scores.values()) - scores[path]
        np.testing.assert_allclose(decoder.loss(states, labels, MASK), expected, rtol=1e-5)


@both
@pytest.mark.parametrize("samples", [1, 3])
def test_best_sequence_and_marginals(names, samples):
    decoder, states = make_decoder(label_names=names), make_states(samples)
    decision = decoder.decide(states, MASK)
    emissions = emissions_of(decoder, states)
    for row, length in enumerate(LENGTHS):
        if length == 0:
            continue
        best = enumerate_paths(decoder, emissions.mean(axis=0)[row, :length])
        path = max(best, key=lambda path: best[path])
        assert decision.label_ids[row, :length].numpy().tolist() == list(path)
        for sample in range(samples):
            scores = enumerate_paths(decoder, emissions[sample, row, :length])
            total = log_sum(scores.values())
            expected = np.zeros([length, CLASSES])
            for path, score in scores.items():
                for t, label in enumerate(path):
                    expected[t, label] += math.exp(score - total)
            found = decision.samples[sample, row, :length]
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_gradient_of_the_loss():
    """With respect to emissions it is the marginals less the given labels."""
    decoder, states = make_decoder(), tf.constant(make_states()[0])
    labels = np.where(MASK, np.random.default_rng(1).integers(0, CLASSES, MASK.shape), 0)
    with tf.GradientTape() as tape:
        loss = decoder.loss(states, labels, MASK)
    gradient = tape.gradient(loss, decoder.bias)
    marginals = decoder.decide(make_states(), MASK).probabilities.numpy()
    expected = (marginals - np.eye(CLASSES)[labels])[MASK].sum(axis=0)
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


def test_impossible_transitions_are_never_decided():
    """However much the states ask for them."""
    free, bound = make_decoder(), make_decoder(label_names=NAMES)
    states = 20 * np.random.default_rng(4).normal(size=[1, 40, 6, WIDTH]).astype(np.float32)

    def is_valid(path):
        names = [None, *(NAMES[label] for label in path), None]
        return all(is_valid_transition(a, b, "BIOES") for a, b in itertools.pairwise(names))

    paths = [decoder.decide(states).label_ids.numpy() for decoder in (free, bound)]
    assert not all(map(is_valid, paths[0]))
    assert all(map(is_valid, paths[1]))
    probabilities = bound.decide(states).probabilities
    begins, ends = probabilities[:, 0], probabilities[:, -1]
    assert float(tf.reduce_max(begins[:, 2])) == 0.0  # nothing starts with E-X
    assert float(tf.reduce_max(ends[:, 1])) == 0.0  # nothing ends with B-X


def test_no_possible_sequence_still_has_a_best():
    """Of labels that cannot follow each other; probabilities and loss stay finite."""
    decoder = CRFDecoder(2, label_names=["B-X", "B-Y"])
    decision = decoder.decide(make_states(), MASK)
    assert np.isfinite(decision.probabilities).all()
    assert np.isfinite(decoder.loss(make_states()[0], np.zeros(MASK.shape, int), MASK))


def test_another_scheme():
    decoder = CRFDecoder(3, label_names=["O", "B-X", "I-X"], scheme="IOB2")
    copy = CRFDecoder.from_config(json.loads(json.dumps(decoder.get_config())))
    assert (copy.label_names, copy.scheme) == (["O", "B-X", "I-X"], "IOB2")
    labels = copy.decide(10 * make_states(), MASK).label_ids.numpy()
    before = np.pad(labels[:, :-1], [(0, 0), (1, 0)])
    assert not ((labels == 2) & (before == 0)).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label_names": NAMES[:2]}, "`label_names` must hold one name per class. Received"),
        ({"label_names": [*NAMES[:3], "NN"]}, "`label_names` must be BIOES labels. Received: 'NN'"),
        ({"label_names": NAMES, "scheme": "IOB2"}, "`label_names` must be IOB2 labels"),
        ({"label_names": NAMES, "scheme": "XYZ"}, "scheme must be one of"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        CRFDecoder(CLASSES, **arguments)


@pytest.mark.parametrize("names", [None, NAMES])
def test_without_tensorflow_addons(names, monkeypatch):
    """Our own functions take its place, with the same loss, gradients and labels."""
    decoder, states = make_decoder(label_names=names), make_states(2)
    labels = np.where(MASK, np.random.default_rng(1).integers(0, CLASSES, MASK.shape), 0)

    def results():
        with tf.GradientTape() as tape:
            loss = decoder.loss(states[0], labels, MASK)
        gradients = tape.gradient(loss, decoder.trainable_variables)
        return decoder.label_samples(tf.constant(states), tf.constant(MASK))[0], loss, gradients

    expected = results()
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name: None if name == "tensorflow_addons" else find_spec(name),
    )
    assert crf._supplier() is ops_crf
    found = results()
    real = MASK & (np.array(LENGTHS) > 0)[:, np.newaxis]
    np.testing.assert_array_equal(found[0].numpy()[real], expected[0].numpy()[real])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)
    for one, two in zip(found[2], expected[2], strict=True):
        np.testing.assert_allclose(one, two, atol=1e-4)
