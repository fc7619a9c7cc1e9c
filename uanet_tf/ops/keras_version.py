"""Which Keras ``tf.keras`` is: this package is built on Keras 2."""

import tensorflow as tf

from uanet_tf.errors import InputError


def check_keras(model_class: type | None = None) -> None:
    """Refuses Keras 3, whose layers are not those that this package extends.

    Where Keras 3 is installed ``uanet_tf`` chooses tf-keras. That is too late if a program has
    used Keras before, and in vain if tf-keras is not installed.

    Args:
      model_class: default: ``tf.keras.Model``.

    Raises:
      InputError: ``tf.keras`` is Keras 3, or cannot be had.
    """
    try:
        module = (model_class or tf.keras.Model).__module__
    except ImportError:  # so TensorFlow says that tf-keras is missing
        module = ""
    # keras.src.engine.training in Keras 2, tf_keras.src.engine.training; keras.src.models.model.
    if ".engine." not in module:
        series = ".".join(tf.__version__.split(".")[:2])
        raise InputError(
            "uanet_tf needs Keras 2, but tf.keras is not that here: install it with "
            f'`pip install "tf-keras=={series}.*"`, and import uanet_tf, or set '
            "TF_USE_LEGACY_KERAS=1, before Keras is used."
        )
