"""What ``test_cells`` does not say of the LSTM."""

import numpy as np
import tensorflow as tf

from tests.ops.test_cells import ROWS, STEPS, WIDTH, make_arrays
from uanet_tf.ops.recurrence import LSTM, PADDING_SHIFT, lstm_scan


def test_the_shift_alone_closes_the_gates():
    """Whatever the other gates hold: so a layer may add it instead of selecting."""
    projected, kernel, mask = make_arrays(LSTM)
    projected[2:, :, : 2 * WIDTH] += PADDING_SHIFT
    states = lstm_scan(tf.constant(projected), tf.constant(kernel), tf.constant(mask)).numpy()
    np.testing.assert_array_equal(states[2:], np.zeros([STEPS - 2, ROWS, WIDTH]))
    assert np.abs(states[:2]).min() > 0
