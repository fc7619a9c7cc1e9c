"""The interface of representations: from a batch's features to one vector per token."""

from typing import Any, NamedTuple

import tensorflow as tf

from uanet_tf.arguments import Part
from uanet_tf.data.lookup import KEYS
from uanet_tf.ops.numerics import wide_dtype
from uanet_tf.ops.shapes import filled_size, spread

Features = dict[str, Any]
# A token's vector in its sentence, computed beforehand; see ``Representation.read``.
VECTORS = "token_vectors"
# The number of a sentence's document, [B].
DOCUMENT = "document"
# What was drafted for a token's word elsewhere in the document; see ``ops.drafts_elsewhere``.
DRAFTS_ELSEWHERE = "drafts_elsewhere"
# The features with a row for each sentence; the others have one for each distinct token.
OF_SENTENCES = ("form_index", "lengths", DOCUMENT, *KEYS, VECTORS, DRAFTS_ELSEWHERE)


def features_of_rows(features: Features, rows: tf.Tensor) -> Features:
    """The features of some sentences of a batch, with the distinct tokens of these only.

    Args:
      rows: [R], numbers of the sentences.
    """
    index = tf.gather(features["form_index"], rows)
    forms, places = tf.unique(tf.reshape(index, [-1]))
    # Filled up with the first, so that products come in few shapes.
    count = tf.size(forms)
    forms = tf.concat([forms, tf.repeat(forms[:1], filled_size(count) - count)], axis=0)
    part = {
        name: tf.gather(values, rows if name in OF_SENTENCES else forms)
        for name, values in features.items()
    }
    return {**part, "form_index": tf.reshape(places, tf.shape(index))}


class Representation(Part, tf.keras.layers.Layer):
    """Base of representations: features of distinct tokens to vectors [B, T, D].

    A subclass defines ``call(features, dropout_seed=None)`` and ``output_width``.

    Attributes:
      optimizer: which optimizer updates its weights, see ``Tagger.variable_groups``.
      of_forms: whether a token's vector is that of its form, whatever the sentence. A call with
        ``spread=False`` then gives the vectors [U, D] that ``form_index`` counts.
    """

    optimizer = "draft"
    of_forms = False

    @property
    def output_width(self) -> int:
        """Width D of a token's vector."""
        raise NotImplementedError(f"{type(self).__name__} must define output_width.")

    def share_pretrained(self, other: "Representation") -> None:
        """Reads the frozen vectors of another one of the same settings; here: there are none."""
        del other

    def read(self, features: Features, dropout_seed: tf.Tensor | None = None) -> Features:
        """Returns the features, with what is computed once per batch, however many calls follow.

        A call gives the same on features that were read and that were not.
        """
        del dropout_seed
        return features

    def with_auxiliary_loss(
        self, features: Features, dropout_seed: tf.Tensor | None = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns what a call returns, and a loss to add to that of the labels.

        The loss is a sum over tokens, like theirs; 0 for a representation that has none.
        """
        vectors = self(features, dropout_seed=dropout_seed)
        return vectors, tf.zeros([], wide_dtype(vectors.dtype))


class WordVectors(NamedTuple):
    """Vectors of tokens, or of distinct tokens and where they stand.

    Attributes:
      vectors: [B, T, D], or with ``form_index`` [U, D].
      form_index: [B, T] int32, the row of each token; None: each token has a vector of its own.
    """

    vectors: tf.Tensor
    form_index: tf.Tensor | None = None

    def of_tokens(self) -> tf.Tensor:
        """[B, T, D]."""
        if self.form_index is None:
            return self.vectors
        return spread(self.vectors, self.form_index)
