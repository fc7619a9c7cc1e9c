"""Both label GRUs against NumPy loops."""

import numpy as np
import pytest

from uanet_tf.decoders.seq2biseq import Seq2BiseqDecoder

CLASSES, STEPS, WIDTH, UNITS = 3, 4, 5, 4
LENGTHS = [4, 1, 3]
MASK = np.arange(STEPS) < np.array(LENGTHS)[:, np.newaxis]


def make_states(samples) -> np.ndarray:
    shape = [samples, len(LENGTHS), STEPS, WIDTH]
    return np.random.default_rng(2).normal(size=shape).astype(np.float32)


def make_decoder() -> Seq2BiseqDecoder:
    decoder = Seq2BiseqDecoder(CLASSES, hidden_width=UNITS, label_width=3)
    decoder.decide(make_states(1), MASK)
    rng = np.random.default_rng(5)
    decoder.set_weights([1.2 * rng.normal(size=w.shape) for w in decoder.get_weights()])
    return decoder


def weights_of(decoder) -> dict[str, np.ndarray]:
    return {w.name.rpartition("/")[2][:-2]: w.numpy().astype(float) for w in decoder.weights}


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def gru(w, way, label, h):
    p = w["label_embedding"][label] @ w[f"kernel_{way}"] + w[f"bias_{way}"]
    (p_z, p_r, p_n), q = np.split(p, 3), h @ w[f"recurrent_kernel_{way}"]
    q_z, q_r, q_n = np.split(q, 3)
    z, r = sigmoid(p_z + q_z), sigmoid(p_r + q_r)
    return z * h + (1 - z) * np.tanh(p_n + r * q_n)


def distribution(w, way, state, context):
    logits = state @ w[f"state_kernel_{way}"] + context @ w[f"context_kernel_{way}"]
    weights = np.exp(logits + w[f"output_bias_{way}"])
    return weights / weights.sum()


def run(w, states, right=None, given=None):
    """One direction over one sentence [M, T, H]: contexts [T, U], p [M, T, C], labels read.

    Without ``right``, the contexts of the other direction, it is the backward one. Labels are
    the ``given`` ones, or those that the mean of the samples decides.
    """
    samples, steps = states.shape[:2]
    way = "backward" if right is None else "forward"
    contexts, p = np.zeros([steps, UNITS]), np.zeros([samples, steps, CLASSES])
    h, label, labels = np.zeros(UNITS), CLASSES, [0] * steps
    for t in range(steps)[:: -1 if right is None else 1]:
        h = contexts[t] = gru(w, way, label, h)
        seen = h if right is None else np.concatenate([h, right[t]])
        for sample in range(samples):
            p[sample, t] = distribution(w, way, states[sample, t], seen)
        label = int(p[:, t].mean(axis=0).argmax()) if given is None else given[t]
        labels[t] = label
    return contexts, p, labels


def test_loss_sums_both_directions():
    decoder, states = make_decoder(), make_states(1)
    w = weights_of(decoder)
    labels = np.array([[2, 0, 1, 1], [1, 2, 2, 2], [0, 0, 2, 1]])
    expected = 0.0
    for row, length in enumerate(LENGTHS):
        given, of_row = labels[row, :length], states[:, row, :length]
        right, p_backward, _ = run(w, of_row, given=given)
        _, p_forward, _ = run(w, of_row, right, given)
        for p in (p_backward, p_forward):
            expected -= sum(np.log(p[0, t, label]) for t, label in enumerate(given))
    np.testing.assert_allclose(decoder.loss(states[0], labels, MASK), expected, rtol=1e-5)


@pytest.mark.parametrize("samples", [1, 3])
def test_decision_is_the_mean_of_both_log_probabilities(samples):
    decoder, states = make_decoder(), make_states(samples)
    w, decision = weights_of(decoder), decoder.decide(states, MASK)
    directions_differ = False
    for row, length in enumerate(LENGTHS):
        of_row = states[:, row, :length]
        right, p_backward, right_labels = run(w, of_row)
        _, p_forward, left_labels = run(w, of_row, right)
        expected = np.exp((np.log(p_backward) + np.log(p_forward)) / 2)
        expected /= expected.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(decision.samples[:, row, :length], expected, atol=1e-5)
        best = expected.mean(axis=0).argmax(axis=-1)
        assert decision.label_ids[row, :length].numpy().tolist() == best.tolist()
        directions_differ |= right_labels != left_labels
    assert directions_differ  # else this test shows less than it says
