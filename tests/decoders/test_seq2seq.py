"""The label LSTM against NumPy loops, and beam search against every sequence."""

import itertools

import numpy as np
import pytest

from uanet_tf.decoders.seq2seq import Seq2SeqDecoder

CLASSES, STEPS, WIDTH, UNITS = 3, 4, 5, 4
LENGTHS = [4, 1, 3]
MASK = np.arange(STEPS) < np.array(LENGTHS)[:, np.newaxis]


def make_states(samples) -> np.ndarray:
    shape = [samples, len(LENGTHS), STEPS, WIDTH]
    return np.random.default_rng(2).normal(size=shape).astype(np.float32)


def make_decoder(beam_width=1) -> Seq2SeqDecoder:
    decoder = Seq2SeqDecoder(CLASSES, hidden_width=UNITS, label_width=3, beam_width=beam_width)
    decoder.decide(make_states(1), MASK)
    rng = np.random.default_rng(11)
    decoder.set_weights([1.2 * rng.normal(size=w.shape) for w in decoder.get_weights()])
    return decoder


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def reference_step(w, state, before, h, c):
    """One sample, one token: the distribution, and the LSTM's next h and c."""
    i, f, o, g = np.split(
        state @ w["state_kernel"]
        + w["label_embedding"][before] @ w["label_kernel"]
        + h @ w["recurrent_kernel"]
        + w["bias"],
        4,
    )
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    weights = np.exp(h @ w["output_kernel"] + w["output_bias"])
    return weights / weights.sum(), h, c


def weights_of(decoder) -> dict[str, np.ndarray]:
    return {w.name.rpartition("/")[2][:-2]: w.numpy().astype(float) for w in decoder.weights}


def reference(decoder, states, path):
    """[M, T, C]: each sample's distributions along a given label sequence."""
    w = weights_of(decoder)
    found = np.zeros([*states.shape[:2], CLASSES])
    for sample in range(len(states)):
        h, c, before = np.zeros(UNITS), np.zeros(UNITS), CLASSES
        for t, label in enumerate(path):
            found[sample, t], h, c = reference_step(w, states[sample, t], before, h, c)
            before = label
    return found


def log_p(decoder, states, path) -> float:
    mean = reference(decoder, states, path).mean(axis=0)
    return sum(np.log(mean[t, label]) for t, label in enumerate(path))


@pytest.mark.parametrize("beam_width", [1, 5])
def test_loss_is_that_of_teacher_forcing(beam_width):
    decoder, states = make_decoder(beam_width), make_states(1)
    labels = np.array([[2, 0, 1, 1], [1, 2, 2, 2], [0, 0, 2, 1]])
    expected = -sum(
        log_p(decoder, states[:, row, :n], labels[row, :n]) for row, n in enumerate(LENGTHS)
    )
    np.testing.assert_allclose(decoder.loss(states[0], labels, MASK), expected, rtol=1e-5)


@pytest.mark.parametrize("samples", [1, 3])
def test_all_beams_find_the_most_probable_sequence(samples):
    decoder, states = make_decoder(CLASSES**STEPS), make_states(samples)
    decision = decoder.decide(states, MASK)
    greedy = make_decoder().decide(states, MASK).label_ids.numpy()
    gains = []
    for row, length in enumerate(LENGTHS):
        of_row = states[:, row, :length]
        paths = list(itertools.product(range(CLASSES), repeat=length))
        best = max(paths, key=lambda path: log_p(decoder, of_row, path))
        assert decision.label_ids[row, :length].numpy().tolist() == list(best)
        # The probabilities are those given the labels decided before.
        expected = reference(decoder, of_row, best).mean(axis=0)
        np.testing.assert_allclose(decision.probabilities[row, :length], expected, atol=1e-5)
        gains.append(log_p(decoder, of_row, best) - log_p(decoder, of_row, greedy[row, :length]))
    assert min(gains) >= 0
    assert len(gains) == len(LENGTHS)
