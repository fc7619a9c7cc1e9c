import numpy as np
import pytest
import tensorflow as tf

from tests.encoders.sampling import INPUTS, LENGTHS, MASK, WIDTH, randomise
from uanet_tf.encoders.iterated_dilated_cnn import IteratedDilatedCNN
from uanet_tf.ops.dropout import make_seed
from uanet_tf.ops.graphs import graph_function

FILTERS = 4
RATES = {"input_dropout": 0.3, "hidden_dropout": 0.2, "output_dropout": 0.4}


def make_layer(**options):
    defaults = {"num_iterations": 3, **RATES}
    return IteratedDilatedCNN(FILTERS, **{**defaults, **options})


def loop_convolution(x, kernel, bias, dilation):
    """One tap at a time; nothing beyond the ends of the sentence."""
    y = np.zeros([len(x), len(bias)])
    for t in range(len(x)):
        total = bias.astype(float)
        for tap in range(3):
            source = t + (tap - 1) * dilation
            if 0 <= source < len(x):
                total = total + x[source] @ kernel[tap]
        y[t] = np.maximum(total, 0)
    return y


def loop_cnn(layer, x, masks):
    """The states of one unpadded sentence [T, D] after every iterate."""
    weights = [weight.numpy() for weight in layer.weights]
    kernels, biases = weights[::2], weights[1::2]
    h = loop_convolution(x * masks.get("input", 1.0), kernels[0], biases[0], 1)
    iterates = []
    for _ in range(layer.num_iterations):
        for number, dilation in enumerate(layer.dilations):
            h = h * masks.get(f"hidden_{number}", 1.0)
            h = loop_convolution(h, kernels[number + 1], biases[number + 1], dilation)
        iterates.append(h * masks.get("output", 1.0))
    return np.stack(iterates)


@pytest.mark.parametrize("masked", [False, True])
def test_equals_loops(masked):
    """Weights and masks are shared by the iterates, masks by the time steps."""
    layer = make_layer()
    masks = layer.draw_masks(make_seed(5), 3, WIDTH) if masked else {}
    layer(INPUTS)
    randomise(layer)
    iterates = layer(INPUTS, mask=MASK, dropout_masks=masks or None, all_iterates=True).numpy()
    assert iterates.shape == (3, 3, 5, FILTERS)
    for row, length in enumerate(LENGTHS):
        rows = {name: mask.numpy()[row] for name, mask in masks.items()}
        expected = loop_cnn(layer, INPUTS[row, :length], rows)
        np.testing.assert_allclose(iterates[:, row, :length], expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(iterates[:, row, length:], 0.0)
    last = layer(INPUTS, mask=MASK, dropout_masks=masks or None)
    np.testing.assert_array_equal(last, iterates[-1])


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (2, 1)])
def test_few_tokens(shape):
    """Fewer than a convolution reaches, or none."""
    layer, inputs = make_layer(), tf.ones([*shape, WIDTH])
    for run in (layer, graph_function()(layer)):
        assert run(inputs, mask=tf.ones(shape, tf.bool)).shape == [*shape, FILTERS]


def test_how_far_it_sees():
    """Each iterate 1 + 2 + 4 + 1 to either side, the first convolution 1."""
    for num_iterations, reach in ((1, 9), (2, 17)):
        layer = make_layer(num_iterations=num_iterations)
        inputs = tf.Variable(tf.random.uniform([1, 41, WIDTH]))
        layer(inputs)
        layer.set_weights([np.full(w.shape, 0.1) for w in layer.weights])
        with tf.GradientTape() as tape:
            middle = tf.reduce_sum(layer(inputs)[0, 20])
        seen = np.flatnonzero(np.abs(tape.gradient(middle, inputs)[0]).sum(axis=-1))
        assert (seen.min(), seen.max(), len(seen)) == (20 - reach, 20 + reach, 2 * reach + 1)


def test_begins_as_the_identity():
    layer = make_layer()
    first, second, third = layer(INPUTS, mask=MASK, all_iterates=True).numpy()
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, third)
    assert np.abs(first).max() > 0.01
    layer.input_kernel.assign_add(tf.ones_like(layer.input_kernel))
    assert np.abs(layer(INPUTS, mask=MASK) - first).max() > 0.01


def test_training_scores_every_iterate_or_the_last():
    for score_iterates, count in ((True, 3), (False, 1)):
        layer = make_layer(score_iterates=score_iterates)
        layer(INPUTS)
        randomise(layer)
        states = layer.training_states(INPUTS, MASK, make_seed(5))
        masks = layer.draw_masks(make_seed(5), 3, WIDTH)
        expected = layer(INPUTS, mask=MASK, dropout_masks=masks, all_iterates=True)[-count:]
        np.testing.assert_array_equal(states, expected)


@pytest.mark.parametrize(
    ("dilations", "message"),
    [
        ((), r"`dilations` must not be empty. Received: dilations=\(\)"),
        ((1, 0), "`dilations` must be a positive integer. Received: dilations=0"),
    ],
)
def test_bad_dilations(dilations, message):
    with pytest.raises(ValueError, match=message):
        IteratedDilatedCNN(dilations=dilations)
