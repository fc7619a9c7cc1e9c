"""The LSTM that TensorFlow Lite runs as one operation gives what the plain one gives."""

import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.recurrence import fused_lstm, lstm_scan

# As large as what the converter quantises.
INPUTS, WIDTH = 40, 40
SHAPES = ([INPUTS, 4 * WIDTH], [WIDTH, 4 * WIDTH], [4 * WIDTH])


def normal(shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


SMALL = [tf.constant(0.2 * normal(shape, seed)) for seed, shape in enumerate(SHAPES)]


def plain(inputs, reverse=False, weights=SMALL):
    kernel, recurrent_kernel, bias = weights
    return lstm_scan(inputs @ kernel + bias, recurrent_kernel, reverse=reverse)


class Converted:
    """``fused_lstm`` in both directions, in one interpreter."""

    def __init__(self, *optimizations, weights=SMALL):
        @graph_function([tf.TensorSpec([None, 1, INPUTS], tf.float32, name="inputs")])
        def both(inputs):
            return {
                "forward": fused_lstm(inputs, *weights),
                "backward": fused_lstm(inputs, *weights, reverse=True),
            }

        # The module is what the functions belong to; they have no variables.
        converter = tf.lite.TFLiteConverter.from_concrete_functions(
            [both.get_concrete_function()], tf.Module()
        )
        converter.optimizations = list(optimizations)
        self.content = converter.convert()
        interpreter = tf.lite.Interpreter(model_content=self.content)
        self._run = interpreter.get_signature_runner()

    def __call__(self, inputs):
        return self._run(inputs=inputs)


@pytest.fixture(scope="module")
def exact():
    return Converted()


@pytest.mark.parametrize("reverse", [False, True])
def test_right_without_a_converter(reverse):
    """What the converter is to replace: a file of one that does not is right too."""
    inputs = normal([9, 1, INPUTS], 2)
    found = fused_lstm(tf.constant(inputs), *SMALL, reverse=reverse)
    np.testing.assert_allclose(found, plain(inputs, reverse), rtol=0, atol=1e-5)


def test_as_the_plain_one_whatever_was_read_before(exact):
    """The operation keeps a state of its own, which must not reach the next sentence."""
    for seed, length in enumerate((7, 1, 30, 2, 7)):
        inputs = normal([length, 1, INPUTS], 10 + seed)
        found = exact(inputs)
        for way, reverse in (("forward", False), ("backward", True)):
            np.testing.assert_allclose(found[way], plain(inputs, reverse), rtol=0, atol=1e-5)


def test_a_large_input_and_its_state_are_forgotten(exact):
    exact(np.full([50, 1, INPUTS], 30.0, np.float32))
    inputs = normal([3, 1, INPUTS], 3)
    np.testing.assert_allclose(exact(inputs)["forward"], plain(inputs), rtol=0, atol=1e-5)


def test_nothing_to_read(exact):
    found = exact(np.zeros([0, 1, INPUTS], np.float32))
    assert {part.shape for part in found.values()} == {(0, 1, WIDTH)}


def test_cells_end_at_ten():
    """30 steps up and 15 down: from 10, not from 30."""
    kernel = np.zeros(SHAPES[0], np.float32)
    kernel[:, 3 * WIDTH :] = 1.0
    bias = np.float32([30.0] * 3 * WIDTH + [0.0] * WIDTH)
    weights = [tf.constant(part) for part in (kernel, np.zeros(SHAPES[1], np.float32), bias)]
    inputs = np.ones([45, 1, INPUTS], np.float32)
    inputs[30:] = -1.0
    cut = Converted(weights=weights)(inputs)["forward"]
    np.testing.assert_allclose(cut[-1], np.tanh(-5.0), atol=1e-5)
    np.testing.assert_allclose(plain(inputs, weights=weights)[-1], np.tanh(15.0), atol=1e-5)


def test_eight_bit_weights_keep_their_digits(exact):
    """The weights that empty the state are of the size of the others."""
    quantised = Converted(tf.lite.Optimize.DEFAULT)
    assert len(quantised.content) < 0.5 * len(exact.content)
    inputs = normal([40, 1, INPUTS], 5)
    quantised(normal([9, 1, INPUTS], 6))
    found = quantised(inputs)
    for way, reverse in (("forward", False), ("backward", True)):
        error = np.abs(found[way] - plain(inputs, reverse))
        assert 0 < error.max() < 0.1
        assert error.mean() < 0.01
