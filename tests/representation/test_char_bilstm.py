import numpy as np
import pytest

from tests.representation.test_char_layers import WORDS, shaken
from uanet_tf.representation.char_bilstm import CharBiLSTM


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def last_state(vectors, kernel, recurrent_kernel, bias):
    """The LSTM over one word, a step at a time; gates i, f, o, g."""
    units = len(recurrent_kernel)
    h = c = np.zeros(units)
    for vector in vectors:
        i, f, o, g = np.split(vector @ kernel + h @ recurrent_kernel + bias, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h


def test_equals_last_states_of_each_word():
    layer = shaken(CharBiLSTM(10, char_width=3, hidden_width=4))
    weights = {weight.name.split(":")[0].split("/")[-1]: weight.numpy() for weight in layer.weights}
    outputs = layer(WORDS).numpy()
    for ids, output in zip(WORDS, outputs, strict=True):
        vectors = [weights["embeddings"][k] for k in ids if k > 0]
        expected = [
            last_state(
                ordered,
                weights[f"kernel_{way}"],
                weights[f"recurrent_kernel_{way}"],
                weights[f"bias_{way}"],
            )
            for way, ordered in (("forward", vectors), ("backward", vectors[::-1]))
        ]
        np.testing.assert_allclose(output, np.concatenate(expected), atol=1e-6)
    np.testing.assert_array_equal(outputs[2], 0)  # no characters


def test_forget_gates_start_open():
    layer = CharBiLSTM(10, hidden_width=4)
    layer(WORDS)
    for bias in layer.biases.values():
        np.testing.assert_array_equal(bias, [0, 0, 1, 1, 0, 0, 0, 0])


@pytest.mark.parametrize("width", [0, 3])
def test_bad_width(width):
    with pytest.raises(ValueError, match=f"even and positive. Received: hidden_width={width}"):
        CharBiLSTM(10, hidden_width=width)


@pytest.mark.parametrize("name", ["num_chars", "char_width"])
def test_bad_arguments(name):
    with pytest.raises(ValueError, match=f"`{name}` must be a positive integer"):
        CharBiLSTM(**{"num_chars": 9, name: 0})
