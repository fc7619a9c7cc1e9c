"""The interface of layers over the characters of a word, and the base of those that embed them."""

import tensorflow as tf

from uanet_lite.token_ids import FIRST_ID
from uanet_tf.arguments import Part, check_positive
from uanet_tf.ops.numerics import add_embeddings


class SpellingLayer(Part, tf.keras.layers.Layer):
    """Base of layers from [U, W] character ids to one vector per word, [U, output_width].

    A subclass defines ``output_width``, ``from_settings`` and ``call``.

    Call arguments:
      char_ids: [U, W] int32, one word per row, 0 at padding, right-padded.
    """

    @property
    def output_width(self) -> int:
        """Width of a word's vector."""
        raise NotImplementedError(f"{type(self).__name__} must define output_width.")


class CharLayer(SpellingLayer):
    """Base of layers that embed the characters; ``call`` begins with ``embed``.

    Args:
      num_chars: number of character ids, padding (0) and unknown (1) included.
      char_width: width of character vectors.
    """

    def __init__(self, num_chars: int, *, char_width: int = 30, **kwargs):
        super().__init__(**kwargs)
        self.num_chars = check_positive("num_chars", num_chars)
        self.char_width = check_positive("char_width", char_width)

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        width = config.representation.char_width
        return cls(len(vocabulary.chars) + FIRST_ID, char_width=width, **kwargs)

    def build(self, input_shape):
        self.embeddings = add_embeddings(self, self.num_chars, self.char_width)
        super().build(input_shape)

    def embed(self, char_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the vectors [U, W, char_width], zeros at padding, and their mask [U, W]."""
        real = char_ids > 0
        vectors = tf.gather(self.embeddings, char_ids)
        # Beyond the ends of a word there are zeros, however far it is padded. By a product:
        # TensorFlow Lite selects element by element.
        return vectors * tf.expand_dims(tf.cast(real, vectors.dtype), -1), real
