"""Characters of a word to a vector: the embedding of its capitalisation."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_lite.token_ids import FIRST_ID
from uanet_tf.arguments import ArgumentError, check_positive
from uanet_tf.ops.numerics import add_embeddings
from uanet_tf.representation.char_layer import SpellingLayer

# Classes of characters. Small letters, digits and signs are one class.
OTHER, UPPER = range(2)

# Shapes of words, rows of the embedding: the order of "word", "iPhone", "Word3", "WORD".
NO_CAPITAL, INNER_CAPITAL, INITIAL_CAPITAL, ALL_CAPITALS = range(4)
NUM_SHAPES = 4


def char_classes(chars: Sequence[str]) -> list[int]:
    """The class of each id, padding (0) and unknown (1) included, of a ``Vocabulary``'s characters.

    UPPER for a capital letter of any script, else OTHER.
    """
    return [OTHER] * FIRST_ID + [UPPER if char.isupper() else OTHER for char in chars]


@tf.keras.saving.register_keras_serializable(package="uanet_tf")
class WordShape(SpellingLayer):
    """The embedding of one of four word shapes, found from capital letters.

    The first of these that applies: all characters are capitals (also a single one); the first is a
    capital; another one is; none is. A digit is not a capital: "B2" begins with a capital,
    "3D" has one within.

    Args:
      classes: class of each character id, from ``char_classes``.
      shape_width: width of the embedding.

    Example:
    >>> WordShape(char_classes("abcABC"))(tf.constant([[5, 2, 3, 0]])).shape
    TensorShape([1, 5])

    Reference: Strubell et al., 2017, "Fast and Accurate Entity Recognition with Iterated Dilated
      Convolutions" (5-dimensional shape vectors); the four shapes are those of its code.
    """

    def __init__(self, classes: Sequence[int], *, shape_width: int = 5, **kwargs):
        super().__init__(**kwargs)
        if not set(classes) <= {OTHER, UPPER}:
            raise ArgumentError(
                f"`classes` must be made by char_classes. Received: classes={classes!r:.60}"
            )
        self.classes = list(classes)
        self.shape_width = check_positive("shape_width", shape_width)
        self._is_upper = tf.constant([kind == UPPER for kind in classes])

    @classmethod
    def from_settings(cls, config, vocabulary, **kwargs):
        return cls(char_classes(vocabulary.chars), **kwargs)

    @property
    def output_width(self) -> int:
        return self.shape_width

    def build(self, input_shape):
        self.embeddings = add_embeddings(self, NUM_SHAPES, self.shape_width)
        super().build(input_shape)

    def call(self, char_ids: tf.Tensor) -> tf.Tensor:
        return tf.gather(self.embeddings, self.shapes(char_ids))  # [U, shape_width]

    def shapes(self, char_ids: tf.Tensor) -> tf.Tensor:
        """Returns the shape [U] of each word; NO_CAPITAL for one without characters."""
        upper = tf.gather(self._is_upper, char_ids)  # [U, W]
        capitals = tf.math.count_nonzero(upper, axis=1)
        length = tf.math.count_nonzero(char_ids, axis=1)
        shape = tf.where(upper[:, 0], INITIAL_CAPITAL, INNER_CAPITAL)
        shape = tf.where(capitals == length, ALL_CAPITALS, shape)
        return tf.where(capitals == 0, NO_CAPITAL, shape)
