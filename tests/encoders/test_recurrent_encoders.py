import numpy as np
import pytest
import tensorflow as tf

from tests.encoders.sampling import INPUTS, LENGTHS, MASK, WIDTH, randomise
from tests.layers.recurrence_transcription import loop_both_ways
from uanet_tf.encoders.recurrent_encoders import BiGRU, BiLSTM, VariationalBiLSTM
from uanet_tf.layers.bidirectional import DIRECTIONS
from uanet_tf.ops.dropout import dropout, fold_in, make_seed

HIDDEN = 6
NO_DROPOUT = {"input_dropout": 0.0, "recurrent_dropout": 0.0}


def make_layer(kind=VariationalBiLSTM, **options):
    defaults = {"num_layers": 2, "input_dropout": 0.4, "recurrent_dropout": 0.4}
    return kind(HIDDEN, **{**defaults, "output_dropout": 0.3, **options})


def loop_encoder(layer, inputs, masks):
    """One unpadded sentence [T, D] through all layers, in NumPy; masks are rows."""
    states = inputs.astype(np.float64)
    for number, weights in enumerate(layer.recurrences):
        states = states * masks.get(f"input_{number}", 1.0)
        tied = {way: masks.get(f"recurrent_{number}_{way}") for way in DIRECTIONS}
        ways = loop_both_ways(weights, states, tied)
        states = np.concatenate([ways[way] for way in DIRECTIONS], axis=-1)
    states = states * masks.get("output", 1.0)
    if layer.projection_width is None:
        return states
    return np.tanh(states @ layer.projection_kernel.numpy() + layer.projection_bias.numpy())


@pytest.mark.parametrize(
    "options",
    [{"num_layers": 1}, {"num_layers": 2}, {"projection_width": 3}, {"kind": BiGRU}],
    ids=str,
)
@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops_over_equation_3(masked, options):
    """Each mask is one row a sentence: the same at all time steps and for all gates."""
    layer = make_layer(**options)
    masks = layer.draw_masks(make_seed(5), 3, WIDTH) if masked else {}
    layer(INPUTS)
    randomise(layer)
    outputs = layer(INPUTS, mask=MASK, dropout_masks=masks or None).numpy()
    for row, length in enumerate(LENGTHS):
        rows = {name: mask.numpy()[row] for name, mask in masks.items()}
        expected = loop_encoder(layer, INPUTS[row, :length], rows)
        np.testing.assert_allclose(outputs[row, :length], expected, atol=1e-5)
        np.testing.assert_array_equal(outputs[row, length:], 0.0)


def test_equals_the_lstm_of_keras():
    """Without dropout; Keras orders the gates i, f, g, o."""
    layer = make_layer(num_layers=1)
    layer(INPUTS)
    randomise(layer)
    (weights,) = layer.recurrences
    units = HIDDEN // 2
    keras = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(units, return_sequences=True))
    keras(INPUTS)

    def reorder(weight):
        i, f, o, g = np.split(weight.numpy(), 4, axis=-1)
        return np.concatenate([i, f, g, o], axis=-1)

    keras.set_weights(
        [
            reorder(group[direction])
            for direction in DIRECTIONS
            for group in (weights.kernels, weights.recurrent_kernels, weights.biases)
        ]
    )
    expected = np.where(MASK[..., None], keras(INPUTS, mask=tf.constant(MASK)), 0)
    np.testing.assert_allclose(layer(INPUTS, mask=MASK), expected, atol=1e-5)
    np.testing.assert_allclose(layer(INPUTS), keras(INPUTS), atol=1e-5)


def test_masks_by_name_width_and_rate():
    masks = make_layer().draw_masks(make_seed(1), 7, WIDTH)
    assert {name: mask.shape.as_list() for name, mask in masks.items()} == {
        "input_0": [7, WIDTH],
        "input_1": [7, HIDDEN],
        **{f"recurrent_{k}_{way}": [7, HIDDEN // 2] for k in (0, 1) for way in DIRECTIONS},
        "output": [7, HIDDEN],
    }
    wide = VariationalBiLSTM(400, input_dropout=0.1, recurrent_dropout=0.6, output_dropout=0.3)
    masks = wide.draw_masks(make_seed(1), 50, 300)
    rates = {name: np.mean(mask.numpy() == 0) for name, mask in masks.items()}
    expected = {"input_0": 0.1, "output": 0.3}
    expected.update({f"recurrent_0_{way}": 0.6 for way in DIRECTIONS})
    assert rates == pytest.approx(expected, abs=0.02)


def test_rates_of_zero_have_no_masks():
    layer = make_layer(output_dropout=0.0, **NO_DROPOUT)
    assert layer.draw_masks(make_seed(1), 3, WIDTH) == {}
    some = make_layer(output_dropout=0.0, recurrent_dropout=0.0)
    assert set(some.draw_masks(make_seed(1), 3, WIDTH)) == {"input_0", "input_1"}


BILSTM_HIDDEN = 8
SEED = make_seed(5)


def make_bilstm(**options):
    defaults = {"num_layers": 2, "input_dropout": 0.4, "output_dropout": 0.3}
    layer = BiLSTM(BILSTM_HIDDEN, **{**defaults, **options})
    layer(INPUTS)
    randomise(layer)
    return layer


def test_has_the_recurrence_of_the_variational_bilstm():
    layer = make_bilstm()
    other = VariationalBiLSTM(BILSTM_HIDDEN, num_layers=2)
    other(INPUTS)
    other.set_weights(layer.get_weights())
    np.testing.assert_array_equal(layer(INPUTS, mask=MASK), other(INPUTS, mask=MASK))


def test_dropout_is_not_tied_over_time():
    """One layer: input and output are dropped as by plain dropout of their full shapes."""
    layer = make_bilstm(num_layers=1, output_dropout=0.0)
    dropped = dropout(tf.transpose(INPUTS, [1, 0, 2]), 0.4, fold_in(SEED, 0))
    dropped = tf.transpose(dropped, [1, 0, 2])
    zeros = np.asarray(dropped == 0)
    assert (zeros.any(axis=1) != zeros.all(axis=1)).any()
    outputs = layer(INPUTS, mask=MASK, dropout_seed=SEED)
    np.testing.assert_allclose(outputs, layer(dropped, mask=MASK), atol=1e-6)

    layer = make_bilstm(num_layers=1, input_dropout=0.0, output_dropout=0.5)
    outputs, plain = layer(INPUTS, dropout_seed=SEED).numpy(), layer(INPUTS).numpy()
    kept = outputs != 0
    np.testing.assert_allclose(outputs[kept], 2 * plain[kept], rtol=1e-5)
    assert (kept.any(axis=1) != kept.all(axis=1)).any()
