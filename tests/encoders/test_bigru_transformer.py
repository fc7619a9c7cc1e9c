import numpy as np
import pytest
import tensorflow as tf

from tests.encoders.sampling import INPUTS, LENGTHS, MASK, WIDTH, randomise
from tests.layers.recurrence_transcription import loop_both_ways
from uanet_tf.encoders.bigru_transformer import DIRECTIONS, BiGRUTransformer
from uanet_tf.ops.dropout import make_seed

HIDDEN = 8
RATES = {"input_dropout": 0.3, "recurrent_dropout": 0.2, "output_dropout": 0.4}


def make_layer(**options):
    defaults = {"num_layers": 2, **RATES}
    return BiGRUTransformer(HIDDEN, **{**defaults, **options})


def normal(x, scale, offset):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) * scale + offset


def loop_encoder(layer, x, masks):
    """One unpadded sentence [T, D] through all layers, in NumPy; masks are rows."""
    x = x.astype(np.float64)
    for number in range(layer.num_layers):
        weights = {name: weight.numpy() for name, weight in layer.layers[number].items()}
        seen = normal(x, weights["input_scale"], weights["input_offset"])
        seen = seen * masks.get(f"input_{number}", 1.0)
        tied = {way: masks.get(f"recurrent_{number}_{way}") for way in DIRECTIONS}
        ways = loop_both_ways(layer.recurrences[number], seen, tied)
        residual = x @ weights["residual_kernel"] if "residual_kernel" in weights else x
        h = np.concatenate([ways[way] for way in DIRECTIONS], axis=-1) + residual
        h = normal(h, weights["states_scale"], weights["states_offset"])
        inner = h * masks.get(f"feedforward_{number}", 1.0)
        inner = np.maximum(inner @ weights["hidden_kernel"] + weights["hidden_bias"], 0)
        h = h + inner @ weights["feedforward_kernel"] + weights["feedforward_bias"]
        x = normal(h, weights["output_scale"], weights["output_offset"])
    return x * masks.get("output", 1.0)


@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops(masked):
    layer = make_layer()
    masks = layer.draw_masks(make_seed(5), 3, WIDTH) if masked else {}
    layer(INPUTS)
    randomise(layer)
    outputs = layer(INPUTS, mask=MASK, dropout_masks=masks or None).numpy()
    for row, length in enumerate(LENGTHS):
        rows = {name: mask.numpy()[row] for name, mask in masks.items()}
        expected = loop_encoder(layer, INPUTS[row, :length], rows)
        np.testing.assert_allclose(outputs[row, :length], expected, rtol=1e-3, atol=1e-4)
        np.testing.assert_array_equal(outputs[row, length:], 0.0)


def test_the_residual_is_projected_only_where_widths_differ():
    layer = make_layer()
    layer(INPUTS)
    assert ["residual_kernel" in weights for weights in layer.layers] == [True, False]
    layer = make_layer()
    layer(tf.ones([1, 2, HIDDEN]))
    assert not any("residual_kernel" in weights for weights in layer.layers)


def test_first_weights():
    layer = make_layer()
    layer(INPUTS)
    for weights in layer.layers:
        np.testing.assert_array_equal(weights["states_scale"], 1)
        np.testing.assert_array_equal(weights["hidden_bias"], 0)
        assert np.abs(weights["hidden_kernel"]).max() > 0.1
