import numpy as np
import pytest
import tensorflow as tf

from tests.encoders.sampling import (
    INPUTS,
    LENGTHS,
    MASK,
    WIDTH,
    randomise,
    sample,
    words_of_a_table,
)
from uanet_tf.encoders.bilstm import BiLSTM
from uanet_tf.encoders.variational_bilstm import VariationalBiLSTM
from uanet_tf.ops.dropout import dropout, fold_in, make_seed

HIDDEN = 8
SEED = make_seed(5)


def make_layer(**options):
    defaults = {"num_layers": 2, "input_dropout": 0.4, "output_dropout": 0.3}
    layer = BiLSTM(HIDDEN, **{**defaults, **options})
    layer(INPUTS)
    randomise(layer)
    return layer


def test_has_the_recurrence_of_the_variational_bilstm():
    layer = make_layer()
    other = VariationalBiLSTM(HIDDEN, num_layers=2)
    other(INPUTS)
    other.set_weights(layer.get_weights())
    np.testing.assert_array_equal(layer(INPUTS, mask=MASK), other(INPUTS, mask=MASK))


def test_words_of_a_table():
    words_of_a_table(make_layer())


def test_dropout_is_not_tied_over_time():
    """One layer: input and output are dropped as by plain dropout of their full shapes."""
    layer = make_layer(num_layers=1, output_dropout=0.0)
    dropped = dropout(tf.transpose(INPUTS, [1, 0, 2]), 0.4, fold_in(SEED, 0))
    dropped = tf.transpose(dropped, [1, 0, 2])
    zeros = np.asarray(dropped == 0)
    assert (zeros.any(axis=1) != zeros.all(axis=1)).any()
    outputs = layer(INPUTS, mask=MASK, dropout_seed=SEED)
    np.testing.assert_allclose(outputs, layer(dropped, mask=MASK), atol=1e-6)

    layer = make_layer(num_layers=1, input_dropout=0.0, output_dropout=0.5)
    outputs, plain = layer(INPUTS, dropout_seed=SEED).numpy(), layer(INPUTS).numpy()
    kept = outputs != 0
    np.testing.assert_allclose(outputs[kept], 2 * plain[kept], rtol=1e-5)
    assert (kept.any(axis=1) != kept.all(axis=1)).any()


@pytest.mark.parametrize("number", [0, 1])
def test_the_input_of_each_layer_is_dropped(number):
    layer = make_layer()
    masks = layer._input_masks(tf.constant(INPUTS), SEED)
    assert [mask.shape.as_list() for mask in masks.values()] == [[5, 3, WIDTH], [5, 3, HIDDEN]]
    one = {f"input_{number}": masks[f"input_{number}"]}
    outputs = layer.recur(tf.constant(INPUTS), None, one)
    assert np.abs(outputs - layer(INPUTS)).max() > 1e-3


def test_sampling_is_one_pass_without_dropout():
    layer = make_layer()
    states = sample(layer)
    assert states.shape[0] == 1
    np.testing.assert_array_equal(states[0], layer(INPUTS, mask=MASK))
    for row, length in enumerate(LENGTHS):
        alone = sample(layer, INPUTS[row : row + 1, :length], MASK[row : row + 1, :length])
        np.testing.assert_allclose(alone[0, 0], states[0, row, :length], atol=1e-6)


def test_training_drops_and_padding_stays_zero():
    layer = make_layer()
    (states,) = layer.training_states(INPUTS, MASK, SEED).numpy()
    np.testing.assert_array_equal(states, layer(INPUTS, mask=MASK, dropout_seed=SEED))
    assert (states != layer(INPUTS, mask=MASK).numpy()).any()
    assert (states[~MASK] == 0).all()


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"`input_dropout` must be in \[0, 1\). Received: "):
        BiLSTM(input_dropout=1.0)
    with pytest.raises(TypeError, match="recurrent_dropout"):
        BiLSTM(recurrent_dropout=0.1)
