"""The interface of layers over the characters of a word."""

from typing import Any

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.data.vocabulary import Vocabulary


class SpellingLayer(tf.keras.layers.Layer):
    """Base of layers from [U, W] character ids to one vector per word, [U, output_width].

    A subclass defines ``output_width``, ``from_settings`` and ``call``.
    """

    @classmethod
    def check_settings(cls, config: Config) -> None:
        """Raises InputError where this part refuses the settings of a run; here: nowhere."""
        del config

    @classmethod
    def from_settings(
        cls, config: Config, vocabulary: Vocabulary, **kwargs: Any
    ) -> "SpellingLayer":
        """The layer that a run's settings describe; see ``uanet_tf.registry``."""
        raise NotImplementedError(f"{cls.__name__} must define from_settings.")

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        raise NotImplementedError(f"{type(self).__name__} must define output_width.")

    def compute_output_shape(self, input_shape):
        return [input_shape[0], self.output_width]
