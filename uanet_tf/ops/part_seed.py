"""The seed of dropout for a part of a batch: its masks are a part of the whole batch's."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import tensorflow as tf

# What the rows of a dropped tensor stand for.
SENTENCES = "sentences"


class PartSeed(NamedTuple):
    """A seed of dropout for some rows of a batch, as one of several replicas has them.

    Where a seed draws masks for all rows, this one draws the same and gives those of the part: so
    the masks of a sentence do not depend on how a batch is shared among replicas.

    Attributes:
      seed: [2] int32, the seed of the whole batch.
      spans: {what rows stand for: [3] int32, the first row of the part, rows of the part, rows of
        the whole}.
    """

    seed: tf.Tensor
    spans: Mapping[str, tf.Tensor]

    def with_spans(self, **spans: tf.Tensor) -> "PartSeed":
        """The same seed, for rows of other kinds too."""
        return self._replace(spans={**self.spans, **spans})

    def whole(
        self, shape: tf.Tensor, rows: str, axis: int
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """The shape of the whole batch's mask, and the part's first row and rows in it.

        Args:
          shape: [n] int32, that of the part's mask. The axis may hold a row several times (as that
            of [B * T, D] tokens does), each as often.
          rows: what the rows along the axis stand for.
          axis: of the rows.
        """
        first, count, total = tf.unstack(self.spans[rows], num=3)
        times = shape[axis] // tf.maximum(count, 1)
        whole = tf.tensor_scatter_nd_update(shape, [[axis]], [total * times])
        return whole, first * times, shape[axis]


Seed: TypeAlias = tf.Tensor | PartSeed


def seed_of_batch(seed: Seed) -> tf.Tensor:
    """The [2] int32 seed of the whole batch, for what every part draws alike."""
    return seed.seed if isinstance(seed, PartSeed) else seed
