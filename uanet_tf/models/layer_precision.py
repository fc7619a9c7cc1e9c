"""The floating-point type in which the layers of a model multiply."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf


@contextlib.contextmanager
def layer_precision(mixed_bfloat16: bool) -> Iterator[None]:
    """Layers made within this context compute in bfloat16, with float32 weights.

    Without ``mixed_bfloat16`` they compute as Keras is set (its global policy).
    """
    if not mixed_bfloat16:  # a policy that is set, be it the same, no longer follows Keras' floats
        yield
        return
    before = tf.keras.mixed_precision.global_policy()
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        yield
    finally:
        tf.keras.mixed_precision.set_global_policy(before)
