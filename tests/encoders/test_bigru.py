import numpy as np

from tests.encoders.sampling import INPUTS, LENGTHS, MASK, WIDTH, randomise
from tests.encoders.test_variational_bilstm import loop_encoder
from uanet_tf.encoders.bigru import BiGRU
from uanet_tf.ops.dropout import make_seed
from uanet_tf.ops.recurrence import GRU

RATES = {"input_dropout": 0.4, "recurrent_dropout": 0.4, "output_dropout": 0.3}


def make_layer(**options):
    return BiGRU(8, **{"num_layers": 2, **RATES, **options})


def test_equals_loops():
    layer = make_layer()
    masks = layer.draw_masks(make_seed(5), 3, WIDTH)
    layer(INPUTS)
    randomise(layer)
    outputs = layer(INPUTS, mask=MASK, dropout_masks=masks).numpy()
    assert all(weights.cell is GRU for weights in layer.recurrences)
    for row, length in enumerate(LENGTHS):
        rows = {name: mask.numpy()[row] for name, mask in masks.items()}
        expected = loop_encoder(layer, INPUTS[row, :length], rows)
        np.testing.assert_allclose(outputs[row, :length], expected, atol=1e-5)
        np.testing.assert_array_equal(outputs[row, length:], 0.0)
