import numpy as np
import pytest

from tests.encoders.sampling import INPUTS, MASK, randomise, sample
from tests.encoders.sampling import WIDTH as INPUT_WIDTH
from tests.layers.transcription import HEADS, WIDTH, reference_stream
from uanet_tf.encoders.relative_transformer import RelativeTransformer
from uanet_tf.ops.dropout import make_seed

RATES = {"input_dropout": 0.3, "layer_dropout": 0.2, "output_dropout": 0.4}
NO_DROPOUT = {**dict.fromkeys(RATES, 0.0), "attention_dropout": 0.0}


def make_layer(**options):
    defaults = {"num_heads": HEADS, "attention_dropout": 0.3, **RATES}
    return RelativeTransformer(WIDTH, **{**defaults, **options})


def loop_transformer(layer, inputs, mask, masks):
    """The transcription of Eq. 7 and 8, layer upon layer; masks are rows a sentence."""
    states = inputs * masks["input"][:, None] if masks else inputs
    states = states @ layer.input_kernel.numpy() + layer.input_bias.numpy()
    for index, stream in enumerate(layer.streams):
        w_kr = layer.position_kernels[index].numpy()
        rows = {part: masks[f"{part}_{index}"] for part in ("attention", "feedforward") if masks}
        states = reference_stream(stream, w_kr, states, states, states, mask, rows)
    return states * masks["output"][:, None] if masks else states


@pytest.mark.parametrize("masked", [False, True])
def test_equals_the_transcription(masked):
    layer = make_layer()
    layer(INPUTS)
    randomise(layer)
    masks = layer.draw_masks(make_seed(5), 3, INPUT_WIDTH) if masked else {}
    outputs = layer(INPUTS, mask=MASK, dropout_masks=masks or None).numpy()
    rows = {name: mask.numpy() for name, mask in masks.items()}
    expected = loop_transformer(layer, INPUTS.astype(float), MASK, rows)
    np.testing.assert_allclose(outputs[MASK], expected[MASK], rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(outputs[~MASK], 0.0)


def test_order_matters():
    """Distances are signed: a reversed sentence does not get the reversed states."""
    layer = make_layer()
    states = layer(INPUTS[:1])
    reversed_states = layer(INPUTS[:1, ::-1])
    assert np.abs(states - reversed_states[:, ::-1]).max() > 1e-3


def test_attention_weights_are_dropped_in_training_alone():
    layer = make_layer(**{**NO_DROPOUT, "attention_dropout": 0.5})
    plain = layer(INPUTS, mask=MASK)
    assert layer.draw_masks(make_seed(5), 3, INPUT_WIDTH) == {}
    np.testing.assert_array_equal(sample(layer)[0], plain)
    one, same, other = (
        layer.training_states(INPUTS, MASK, make_seed(number)).numpy() for number in (1, 1, 2)
    )
    assert one.shape == (1, 3, 5, WIDTH)
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    assert (one != plain.numpy()).any()


def test_training_draws_the_masks_of_its_seed():
    layer = make_layer(attention_dropout=0.0)
    masks = layer.draw_masks(make_seed(5), 3, INPUT_WIDTH)
    expected = layer(INPUTS, mask=MASK, dropout_masks=masks)
    (states,) = layer.training_states(INPUTS, MASK, make_seed(5))
    np.testing.assert_array_equal(states, expected)


def test_heads_divide_the_width():
    message = "must be a multiple of `num_heads`. Received: hidden_width=10, num_heads=3"
    with pytest.raises(ValueError, match=message):
        RelativeTransformer(10, num_heads=3)
