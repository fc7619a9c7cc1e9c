import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.layers.recurrence_transcription import loop_both_ways
from uanet_tf.encoders.variational_bilstm import VariationalBiLSTM
from uanet_tf.layers.bidirectional import DIRECTIONS
from uanet_tf.ops.dropout import make_seed

WIDTH, HIDDEN = 5, 6
INPUTS = np.random.default_rng(1).normal(size=[3, 4, WIDTH]).astype(np.float32)
LENGTHS = [4, 2, 1]
MASK = np.arange(4) < np.array(LENGTHS)[:, None]
NO_DROPOUT = {"input_dropout": 0.0, "recurrent_dropout": 0.0}


def make_layer(**options):
    defaults = {"num_layers": 2, "input_dropout": 0.4, "recurrent_dropout": 0.4}
    return VariationalBiLSTM(HIDDEN, **{**defaults, "output_dropout": 0.3, **options})


def call(layer, inputs, seed):
    masks = None
    if seed is not None:
        masks = layer.draw_masks(seed, tf.shape(inputs["inputs"])[0], WIDTH)
    return layer(inputs["inputs"], mask=inputs["mask"], dropout_masks=masks)


def randomize(layer):
    rng = np.random.default_rng(2)
    layer.set_weights([rng.normal(size=weight.shape) for weight in layer.weights])


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
    "options", [{"num_layers": 1}, {"num_layers": 2}, {"projection_width": 3}], ids=str
)
@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops_over_equation_3(masked, options):
    """Each mask is one row a sentence: the same at all time steps and for all four gates."""
    layer = make_layer(**options)
    masks = layer.draw_masks(make_seed(5), 3, WIDTH) if masked else {}
    layer(INPUTS)
    randomize(layer)
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
    randomize(layer)
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


@pytest.mark.parametrize(
    "name", ["input_0", "input_1", "recurrent_0_forward", "recurrent_1_backward", "output"]
)
def test_each_mask_matters(name):
    layer = make_layer()
    masks = layer.draw_masks(make_seed(5), 3, WIDTH)
    plain = layer(INPUTS)
    assert (layer(INPUTS, dropout_masks={name: masks[name]}).numpy() != plain.numpy()).any()
    unused = tf.ones_like(masks[name])
    np.testing.assert_allclose(layer(INPUTS, dropout_masks={name: unused}), plain, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"projection_width": 4}], ids=str)
def test_contract(options):
    check_layer(
        lambda **kwargs: make_layer(**options, **kwargs),
        lambda: {"inputs": INPUTS, "mask": MASK},
        call=call,
        make_layer_without_dropout=lambda **kwargs: make_layer(
            output_dropout=0.0, **NO_DROPOUT, **options, **kwargs
        ),
    )


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16", "float64"])
def test_other_dtypes(policy):
    layer = make_layer(dtype=policy)
    masks = layer.draw_masks(make_seed(5), 3, WIDTH)
    outputs = layer(INPUTS, mask=MASK, dropout_masks=masks)
    assert outputs.dtype == layer.compute_dtype
    assert np.isfinite(tf.cast(outputs, tf.float32)).all()
    assert (tf.cast(outputs, tf.float32).numpy()[~MASK] == 0).all()


def test_output_shape():
    assert list(make_layer().compute_output_shape([None, None, 7])) == [None, None, HIDDEN]
    narrow = make_layer(projection_width=3)
    assert list(narrow.compute_output_shape([None, None, 7])) == [None, None, 3]
    assert narrow(INPUTS).shape == [3, 4, 3]
