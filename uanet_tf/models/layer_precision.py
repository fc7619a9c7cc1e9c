"""The floating-point type in which the layers of a model multiply."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf


@contextlib.contextmanager
def layer_precision(mixed_bfloat16: bool) -> Iterator[None]:
    """Layers made within this context compute in bfloat16, with float32 weights.

    Without ``mixed_bfloat16`` they compute in Keras' floats (``tf.keras.backend.floatx``, float32
    unless it is set). In both cases a global policy that somebody else has set has no effect.
    """
    wanted = "mixed_bfloat16" if mixed_bfloat16 else tf.keras.backend.floatx()
    before = tf.keras.mixed_precision.global_policy()
    if (
        before.name == wanted
    ):  # a policy that is set, be it the same, no longer follows Keras' floats
        yield
        return
    tf.keras.mixed_precision.set_global_policy(wanted)
    try:
        yield
    finally:
        tf.keras.mixed_precision.set_global_policy(before)
