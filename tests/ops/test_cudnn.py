"""LSTMs at once: cuDNN's definition by NumPy, agreement with the loop."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.encoders import recurrent_encoders
from uanet_tf.encoders.recurrent_encoders import BiLSTM, VariationalBiLSTM
from uanet_tf.layers import bidirectional

UNITS = 3


def sigmoid(values):
    return 1.0 / (1.0 + np.exp(-values))


def cudnn_lstm(inputs, lengths, weights, units):
    """What cuDNN's documentation says of LSTMs, with explicit loops.

    Its weights: for each direction W_i, W_f, W_g, W_o [H, D] and R_i, R_f, R_g, R_o [H, H]; behind
    them for each direction the biases of W and those of R, [H] each.
    """
    inputs, lengths, weights = (np.asarray(part) for part in (inputs, lengths, weights))
    steps, rows, width = inputs.shape
    sizes = [(4, units, width), (4, units, units)] * 2 + [(8, units)] * 2
    assert weights.size == sum(map(np.prod, sizes))
    parts = np.split(weights, np.cumsum([np.prod(size) for size in sizes])[:-1])
    parts = [part.reshape(size) for part, size in zip(parts, sizes, strict=True)]
    outputs = np.zeros([steps, rows, 2 * units], np.float32)
    for way in range(2):
        kernel, recurrent, bias = parts[2 * way], parts[2 * way + 1], parts[4 + way]
        for row in range(rows):
            h, c = np.zeros(units), np.zeros(units)
            times = range(lengths[row])
            for t in reversed(times) if way else times:
                i, f, g, o = (
                    kernel[gate] @ inputs[t, row]
                    + recurrent[gate] @ h
                    + bias[gate]
                    + bias[4 + gate]
                    for gate in range(4)
                )
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
                outputs[t, row, way * units : (way + 1) * units] = h
    return tf.constant(outputs)


@pytest.fixture
def at_once(monkeypatch):
    """Encoders compute as on a GPU, with the LSTM above in place of cuDNN's."""
    monkeypatch.setattr(bidirectional, "bidirectional_lstm", cudnn_lstm)
    monkeypatch.setattr(recurrent_encoders, "by_device", lambda on_processor, on_gpu: on_gpu())


def varied(encoder):
    """Weights that are all different, biases included."""
    values = np.random.default_rng(1)
    for weight in encoder.weights:
        weight.assign(values.normal(0.0, 0.5, weight.shape))


FORMS = np.random.default_rng(2).normal(size=[7, 5]).astype(np.float32)
INDEX = np.array([[1, 4, 6, 2], [3, 3, 0, 0], [5, 0, 0, 0], [0, 0, 0, 0]], np.int32)
MASK = np.arange(4) < np.array([[4], [2], [1], [0]])


@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("samples", [0, 1, 3])
@pytest.mark.parametrize("narrow", [None, 2])
def test_equal_to_the_loop(request, num_layers, samples, narrow):
    encoder = VariationalBiLSTM(
        2 * UNITS, num_layers=num_layers, output_dropout=0.2, projection_width=narrow
    )
    encoder.build([None, None, 5])
    varied(encoder)
    masks = {}
    if samples:
        masks = encoder.sampling_masks(tf.constant([3, 1]), samples, 5)
    given = {"mask": tf.constant(MASK), "dropout_masks": masks, "index": tf.constant(INDEX)}
    expected = encoder(FORMS, **given)
    request.getfixturevalue("at_once")
    found = encoder(FORMS, **given)
    assert found.shape == [max(1, samples), 4, 4, narrow or 2 * UNITS]
    assert np.ptp(expected[:, 0], axis=-1).min() > 0.0
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert not np.any(np.asarray(found)[:, ~MASK])


def test_of_ordinary_lstms(request):
    encoder = BiLSTM(2 * UNITS)
    encoder.build([None, None, 5])
    varied(encoder)
    expected = encoder(FORMS, mask=tf.constant(MASK), index=tf.constant(INDEX))
    request.getfixturevalue("at_once")
    found = encoder(FORMS, mask=tf.constant(MASK), index=tf.constant(INDEX))
    np.testing.assert_allclose(found, expected, atol=2e-6)
