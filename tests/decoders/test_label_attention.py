"""Label attention against plain NumPy with explicit loops."""

import numpy as np
import pytest

from tests.layers.recurrence_transcription import loop_both_ways
from uanet_tf.decoders.label_attention import LabelAttentionDecoder

CLASSES, WIDTH, HEADS = 3, 6, 2
MASK = np.arange(4) < np.array([[3], [4]])


def softmax(scores):
    weights = np.exp(scores - np.max(scores))
    return weights / weights.sum()


def reference_attention(state, labels, w_q, w_k, w_v, num_heads):
    """One state's heads side by side, and the weights of each head."""
    width = len(state) // num_heads
    heads, weights = [], []
    for head in range(num_heads):
        part = slice(head * width, (head + 1) * width)
        query = state @ w_q[:, part]
        scores = [query @ (label @ w_k[:, part]) / np.sqrt(width) for label in labels]
        weights.append(softmax(scores))
        if w_v is not None:
            pairs = zip(weights[-1], labels, strict=True)
            heads.append(sum(weight * (label @ w_v[:, part]) for weight, label in pairs))
    return np.concatenate(heads) if heads else None, weights


def reference(decoder, states):
    """The whole stack on one sentence [T, H]; the paper's section 4."""
    labels = decoder.label_embedding.numpy()
    for index, bilstm in enumerate(decoder.bilstms):
        w_q, w_k, w_v = [
            kernels[index].numpy()
            for kernels in (decoder.query_kernels, decoder.key_kernels, decoder.value_kernels)
        ]
        inputs = []
        for state in states:
            attended, _ = reference_attention(state, labels, w_q, w_k, w_v, HEADS)
            inputs.append(np.concatenate([state, attended + state]))
        ways = loop_both_ways(bilstm.recurrences[0], np.array(inputs))
        states = np.concatenate([ways["forward"], ways["backward"]], axis=1)
    w_q, w_k = decoder.query_kernels[-1].numpy(), decoder.key_kernels[-1].numpy()
    return [reference_attention(state, labels, w_q, w_k, None, 1)[1][0] for state in states]


@pytest.mark.parametrize("num_layers", [1, 2])
def test_equals_transcription(num_layers):
    decoder = LabelAttentionDecoder(CLASSES, num_layers=num_layers, num_heads=HEADS)
    rng = np.random.default_rng(3)
    states = rng.normal(size=[2, 2, 4, WIDTH]).astype(np.float32)
    decoder.decide(states, MASK)
    decoder.set_weights([0.7 * rng.normal(size=w.shape) for w in decoder.get_weights()])
    decision = decoder.decide(states, MASK)
    for sample, row in np.ndindex(2, 2):
        length = MASK[row].sum()
        expected = np.array(reference(decoder, states[sample, row, :length]))
        np.testing.assert_allclose(decision.samples[sample, row, :length], expected, atol=1e-5)
        assert np.ptp(expected, axis=0).max() > 0.01  # tokens differ, so that errors show


def test_what_is_attended_to_does_not_drown_the_states_at_the_start():
    """With labels as large as their width allows, LAN lost ten points of F1 on newswire."""
    decoder = LabelAttentionDecoder(CLASSES, num_heads=HEADS)
    states = 0.1 * np.random.default_rng(4).normal(size=[2, 5, WIDTH]).astype(np.float32)
    decoder.build([None, None, WIDTH])
    attended = decoder._attend(states, 0, None) - states
    assert 0 < np.abs(attended).max() < 0.1 * np.abs(states).max()


@pytest.mark.parametrize(("width", "heads"), [(6, 4), (9, 3)])
def test_width_must_suit_heads_and_directions(width, heads):
    with pytest.raises(ValueError, match=f"Received: {width}, num_heads={heads}"):
        LabelAttentionDecoder(CLASSES, num_heads=heads).build([None, None, width])
