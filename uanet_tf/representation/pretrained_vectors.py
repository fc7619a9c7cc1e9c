"""Pretrained word vectors that are never trained, in 8 bits."""

import numpy as np
import tensorflow as tf

from uanet_tf.arguments import KeepsArguments

# Seven of the eight bits, so that a deflated file is an eighth smaller. Measured with GloVe, labels
# are those of float32 on 99.955 % of tokens (benchmarks.stored_vectors).
_MOST = 63
_CHUNK = 65_536


def quantize(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors as whole numbers of -63 to 63 with a scale for each row.

    Args:
      vectors: [N, D] float32.

    Returns: rows [N, D] int8 and scales [N] float32, so that ``rows * scales`` are the vectors,
      each number within half a scale; 0 for a vector of zeros.
    """
    rows = np.empty(vectors.shape, np.int8)
    scales = np.empty(len(vectors), np.float32)
    for start in range(0, len(vectors), _CHUNK):  # so that the copies stay small
        part = slice(start, start + _CHUNK)
        scales[part] = np.abs(vectors[part]).max(axis=1, initial=0.0) / _MOST
        scale = np.where(scales[part] > 0, scales[part], 1)[:, None]
        rows[part] = np.clip(np.rint(vectors[part] / scale), -_MOST, _MOST)
    return rows, scales


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class PretrainedVectors(KeepsArguments, tf.keras.layers.Layer):
    """A frozen table of vectors: a row of 8-bit numbers and a scale for each id.

    Args:
      num_words: number of ids, those without a vector included.
      width: numbers in a vector.

    Call arguments:
      ids: [U] int32.

    Returns: Vectors [U, width] float32, zeros without a vector; and [U] boolean, whether there is
      one.
    """

    def __init__(self, num_words: int, width: int, **kwargs):
        # Its weights are no less exact in mixed precision.
        super().__init__(**{**kwargs, "dtype": tf.float32, "trainable": False})
        self.num_words = num_words
        self.width = width

    def build(self, input_shape):
        shape = [self.num_words, self.width]
        self.rows = self.add_weight("rows", shape, tf.int8, "zeros", trainable=False)
        self.scales = self.add_weight(
            "scales", [self.num_words], tf.float32, "zeros", trainable=False
        )
        super().build(input_shape)

    def call(self, ids):
        scales = tf.gather(self.scales, ids)
        rows = tf.cast(tf.gather(self.rows, ids), tf.float32)
        return rows * tf.expand_dims(scales, -1), scales > 0
