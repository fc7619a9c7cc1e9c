import numpy as np
import tensorflow as tf

from uanet_tf.ops.recurrence import block_orthogonal


def test_each_block_is_orthogonal_and_its_own():
    blocks = np.split(block_orthogonal([5, 15], dtype=tf.float64).numpy(), 3, axis=1)
    for number, block in enumerate(blocks):
        np.testing.assert_allclose(block @ block.T, np.eye(5), atol=1e-12)
        for other in blocks[:number]:
            assert np.abs(block - other).max() > 0.01
