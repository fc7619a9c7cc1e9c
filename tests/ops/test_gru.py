"""What ``test_cells`` does not say of the GRU."""

import numpy as np
import pytest
import tensorflow as tf

from tests.ops.test_cells import ROWS, STEPS, WIDTH, make_arrays, make_tensors
from uanet_tf.ops.recurrence import GRU, gru_scan, gru_step


def test_equals_the_gru_of_keras():
    """Keras too orders its gates z, r, n; its second bias is zero here."""
    projected, kernel, _ = make_arrays(GRU, dtype=np.float32)
    keras = tf.keras.layers.GRU(WIDTH, return_sequences=True)
    inputs = tf.transpose(projected, [1, 0, 2])
    keras(inputs)
    keras.set_weights([np.eye(3 * WIDTH), kernel, np.zeros([2, 3 * WIDTH])])
    states = tf.transpose(gru_scan(tf.constant(projected), tf.constant(kernel)), [1, 0, 2])
    np.testing.assert_allclose(states, keras(inputs), atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_steps_one_by_one_are_the_scan(masked):
    projected, kernel, mask = make_tensors(GRU)
    mask = mask if masked else None
    state, states = tf.zeros([ROWS, WIDTH], tf.float64), gru_scan(projected, kernel, mask)
    for t in range(STEPS):
        state = gru_step(projected[t], state, kernel, mask)
        np.testing.assert_allclose(state, states[t], atol=1e-12)
