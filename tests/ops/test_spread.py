import numpy as np
import tensorflow as tf

from uanet_tf.ops.graphs import unpadded
from uanet_tf.ops.shapes import spread

VECTORS = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_each_token_has_the_vector_of_its_word():
    found = spread(VECTORS, tf.constant([[2, 0], [0, 0]]))
    np.testing.assert_array_equal(found, [[[5, 6], [1, 2]], [[1, 2], [1, 2]]])


def test_vectors_of_a_sentence_are_those_of_its_tokens():
    with unpadded():  # where no index is read
        found = spread(VECTORS, tf.constant([[2, 2, 2]]))
    np.testing.assert_array_equal(found, VECTORS[tf.newaxis])
