import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.convolution import dilated_convolution

RNG = np.random.default_rng(1)
INPUTS = tf.constant(RNG.normal(size=[2, 6, 3]))


@pytest.mark.parametrize("taps", [1, 3, 5])
@pytest.mark.parametrize("dilation", [1, 2, 7])
def test_equals_loops(taps, dilation):
    """Also where the taps reach beyond both ends."""
    kernel = RNG.normal(size=[taps, 3, 4])
    outputs = dilated_convolution(INPUTS, kernel, dilation)
    for row, t in np.ndindex(2, 6):
        expected = np.zeros(4)
        for tap in range(taps):
            source = t + (tap - taps // 2) * dilation
            if 0 <= source < 6:
                expected += INPUTS[row, source].numpy() @ kernel[tap]
        np.testing.assert_allclose(outputs[row, t], expected, atol=1e-12)


@pytest.mark.parametrize("taps", [1, 3, 5])
@pytest.mark.parametrize("dilation", [1, 2, 7])
def test_values_and_gradients_equal_those_of_tensorflow(taps, dilation):
    kernel = tf.constant(RNG.normal(size=[taps, 3, 4]))
    weights = RNG.normal(size=[2, 6, 4])

    def run(convolve):
        with tf.GradientTape() as tape:
            tape.watch([INPUTS, kernel])
            outputs = convolve()
            loss = tf.reduce_sum(weights * tf.square(outputs))
        return outputs, *tape.gradient(loss, [INPUTS, kernel])

    found = run(lambda: dilated_convolution(INPUTS, kernel, dilation))
    theirs = run(lambda: tf.nn.convolution(INPUTS, kernel, padding="SAME", dilations=dilation))
    for one, other in zip(found, theirs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)
        assert one.shape == other.shape
