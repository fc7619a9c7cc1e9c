"""Uniform numbers as a pure function of a seed, by the Philox generator.

Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011). The numbers are those of
``tf.random.stateless_uniform(..., alg="philox")``. That function makes key and counter out of the
seed by some forty operations in the graph; here one operation does it. A training step draws more
than fifty times, so a third of its graph, and of the time to build it, is saved.
"""

import tensorflow as tf

# The generator is named, not left to TensorFlow, whose choice may differ from device to device: a
# sample has to be the same on every server.
PHILOX = tf.random.Algorithm.PHILOX.value


def philox_uniform(shape: tf.Tensor | list[int], seed: tf.Tensor) -> tf.Tensor:
    """Float32 numbers in [0, 1).

    Args:
      shape: of the result, a list of integers or an int32 tensor.
      seed: [2] int32 tensor.
    """
    key, counter = _key_and_counter(seed)
    return tf.raw_ops.StatelessRandomUniformV2(
        shape=shape, key=key, counter=counter, alg=PHILOX, dtype=tf.float32
    )


def integer(seed: tf.Tensor) -> tf.Tensor:
    """One int32 number of the full range, shape [].

    Args:
      seed: [2] int32 tensor.
    """
    key, counter = _key_and_counter(seed)
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=tf.constant([], tf.int32), key=key, counter=counter, alg=PHILOX, dtype=tf.int32
    )


def _key_and_counter(seed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    pair = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
    return pair.key, pair.counter
