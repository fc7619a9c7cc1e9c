import numpy as np
import pytest
import tensorflow as tf

from tests.layer_contract import check_layer
from tests.ops.test_lstm import loop_lstm
from uanet_tf.encoders.variational_bilstm import DIRECTIONS, VariationalBiLSTM
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


def loop_bilstm(layer, inputs, masks):
    """One unpadded sentence [T, D] through all layers, in NumPy; masks are rows."""
    states = inputs.astype(np.float64)
    for number in range(layer.num_layers):
        states = states * masks.get(f"input_{number}", 1.0)
        ways = []
        for direction in DIRECTIONS:
            name = f"{number}_{direction}"
            projected = states @ layer.kernels[name].numpy() + layer.biases[name].numpy()
            mask = masks.get(f"recurrent_{name}")
            ways.append(
                loop_lstm(
                    projected[:, None],
                    layer.recurrent_kernels[name].numpy(),
                    None if mask is None else mask[None],
                    direction == "backward",
                )[:, 0]
            )
        states = np.concatenate(ways, axis=-1)
    return states * masks.get("output", 1.0)


@pytest.mark.parametrize("num_layers", [1, 2])
@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops_over_equation_3(masked, num_layers):
    """Each mask is one row a sentence: the same at all time steps and for all four gates."""
    layer = make_layer(num_layers=num_layers)
    masks = layer.draw_masks(make_seed(5), 3, WIDTH) if masked else {}
    layer(INPUTS)
    randomize(layer)
    outputs = layer(INPUTS, mask=MASK, dropout_masks=masks or None).numpy()
    for row, length in enumerate(LENGTHS):
        rows = {name: mask.numpy()[row] for name, mask in masks.items()}
        expected = loop_bilstm(layer, INPUTS[row, :length], rows)
        np.testing.assert_allclose(outputs[row, :length], expected, atol=1e-5)
        np.testing.assert_array_equal(outputs[row, length:], 0.0)


def test_equals_the_lstm_of_keras():
    """Without dropout; Keras orders the gates i, f, g, o."""
    layer = make_layer(num_layers=1)
    layer(INPUTS)
    randomize(layer)
    units = HIDDEN // 2
    keras = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(units, return_sequences=True))
    keras(INPUTS)

    def reorder(weight):
        i, f, o, g = np.split(weight.numpy(), 4, axis=-1)
        return np.concatenate([i, f, g, o], axis=-1)

    keras.set_weights(
        [
            reorder(group[f"0_{direction}"])
            for direction in DIRECTIONS
            for group in (layer.kernels, layer.recurrent_kernels, layer.biases)
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


def test_first_weights():
    layer = make_layer(num_layers=1)
    layer(INPUTS)
    units = HIDDEN // 2
    for direction in DIRECTIONS:
        bias = layer.biases[f"0_{direction}"].numpy()
        np.testing.assert_array_equal(bias, np.repeat([0, 1, 0, 0], units))  # i, f, o, g
        blocks = np.split(layer.recurrent_kernels[f"0_{direction}"].numpy(), 4, axis=-1)
        for number, block in enumerate(blocks):
            np.testing.assert_allclose(block @ block.T, np.eye(units), atol=1e-5)
            for other in blocks[:number]:
                assert np.abs(block - other).max() > 0.01
    kernels = [layer.recurrent_kernels[f"0_{way}"].numpy() for way in DIRECTIONS]
    assert np.abs(kernels[0] - kernels[1]).max() > 0.01


def test_contract():
    check_layer(
        make_layer,
        lambda: {"inputs": INPUTS, "mask": MASK},
        call=call,
        make_layer_without_dropout=lambda **kwargs: make_layer(
            output_dropout=0.0, **NO_DROPOUT, **kwargs
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden_width": 5}, "`hidden_width` must be even and positive. Received: hidden_width=5"),
        ({"hidden_width": 0}, "`hidden_width` must be even and positive."),
        ({"num_layers": 0}, "`num_layers` must be positive. Received: num_layers=0"),
        ({"input_dropout": 1.0}, r"`input_dropout` must be in \[0, 1\). Received: "),
        ({"recurrent_dropout": -0.1}, r"`recurrent_dropout` must be in \[0, 1\). Received: "),
        ({"output_dropout": 1.5}, r"`output_dropout` must be in \[0, 1\). Received: "),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        VariationalBiLSTM(**options)


def test_output_shape():
    assert list(make_layer().compute_output_shape([None, None, 7])) == [None, None, HIDDEN]
