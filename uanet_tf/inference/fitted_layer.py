"""The base of what is fitted to the development file after training."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf


class FittedLayer(tf.keras.layers.Layer):
    """A layer of float32 weights that training leaves alone.

    Models from before the layer existed have no weights for it: its initial ones stay.
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**{**kwargs, "dtype": tf.float32, "trainable": False})

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """As Keras', if the model stored any."""
        if len(store):
            super().load_own_variables(store)

    def get_config(self):
        config = super().get_config()
        del config["dtype"], config["trainable"]  # always the same
        return config
