import numpy as np
import pytest

from tests.representation.test_char_layers import WORDS, shaken
from uanet_tf.representation.char_gru import CharGRU


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sum_of_states(vectors, kernel, recurrent_kernel, bias):
    """The GRU over one word, a step at a time; gates z, r, n."""
    h = total = np.zeros(len(recurrent_kernel))
    for vector in vectors:
        p, q = np.split(vector @ kernel + bias, 3), np.split(h @ recurrent_kernel, 3)
        z, r = sigmoid(p[0] + q[0]), sigmoid(p[1] + q[1])
        h = z * h + (1 - z) * np.tanh(p[2] + r * q[2])
        total = total + h
    return total


def test_equals_sums_over_each_word():
    layer = shaken(CharGRU(10, char_width=3, hidden_width=6, feedforward_width=4))
    weights = {weight.name.split(":")[0].split("/")[-1]: weight.numpy() for weight in layer.weights}
    outputs = layer(WORDS).numpy()
    for ids, output in zip(WORDS, outputs, strict=True):
        vectors = [weights["embeddings"][k] for k in ids if k > 0]
        sums = [
            sum_of_states(
                ordered,
                weights[f"kernel_{way}"],
                weights[f"recurrent_kernel_{way}"],
                weights[f"bias_{way}"],
            )
            for way, ordered in (("forward", vectors), ("backward", vectors[::-1]))
        ]
        expected = np.concatenate(sums) @ weights["output_kernel"] + weights["output_bias"]
        np.testing.assert_allclose(output, np.maximum(expected, 0), atol=1e-5)
    assert 0 < (outputs > 0).mean() < 1


@pytest.mark.parametrize("width", [0, 3])
def test_bad_width(width):
    with pytest.raises(ValueError, match=f"even and positive. Received: hidden_width={width}"):
        CharGRU(10, hidden_width=width)


@pytest.mark.parametrize("name", ["num_chars", "char_width", "feedforward_width"])
def test_bad_arguments(name):
    with pytest.raises(ValueError, match=f"`{name}` must be a positive integer"):
        CharGRU(**{"num_chars": 9, name: 0})
