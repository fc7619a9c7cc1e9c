"""The word vectors of a batch, in one of two forms."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.ops.shapes import spread


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
