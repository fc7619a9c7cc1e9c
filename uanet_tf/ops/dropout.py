"""Dropout as a pure function of an explicit seed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import tensorflow as tf

# The generator is named, not left to TensorFlow, whose choice may differ from device to device: a
# sample has to be the same on every server.
PHILOX = tf.random.Algorithm.PHILOX.value


def philox_uniform(shape: tf.Tensor | list[int], seed: tf.Tensor) -> tf.Tensor:
    """Float32 numbers in [0, 1), from a seed [2] int32; the shape is a list or an int32 tensor."""
    return tf.raw_ops.StatelessRandomUniformV2(
        shape=shape, **_key_and_counter(seed), alg=PHILOX, dtype=tf.float32
    )


def integer(seed: tf.Tensor) -> tf.Tensor:
    """One int32 number of the full range, shape [], from a seed [2] int32."""
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=tf.constant([], tf.int32), **_key_and_counter(seed), alg=PHILOX, dtype=tf.int32
    )


def _key_and_counter(seed: tf.Tensor) -> dict[str, tf.Tensor]:
    return tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)._asdict()


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

        ``shape`` is [n] int32, that of the part's mask. The axis of the rows may hold a row several
        times (as that of [B * T, D] tokens does), each as often.
        """
        first, count, total = tf.unstack(self.spans[rows], num=3)
        times = shape[axis] // tf.maximum(count, 1)
        whole = tf.tensor_scatter_nd_update(shape, [[axis]], [total * times])
        return whole, first * times, shape[axis]


Seed: TypeAlias = tf.Tensor | PartSeed


def seed_of_batch(seed: Seed) -> tf.Tensor:
    """The [2] int32 seed of the whole batch, for what every part draws alike."""
    return seed.seed if isinstance(seed, PartSeed) else seed


def make_seed(seed: int | tf.Tensor, step: int | tf.Tensor = 0) -> tf.Tensor:
    """Returns the [2] int32 seed of a global step, or any other counter, from a run's seed."""
    return tf.stack([tf.cast(seed, tf.int32), tf.cast(step, tf.int32)])


def fold_in(seed: Seed | None, number: int) -> Any:
    """Derives an independent seed for the ``number``-th consumer of ``seed``.

    ``None`` stays ``None``, so that "no dropout" passes through nested layers.
    """
    if seed is None:
        return None
    if isinstance(seed, PartSeed):
        return seed._replace(seed=fold_in(seed.seed, number))
    # Seeds are read on the processor: one made on a GPU would be waited for.
    with tf.device("CPU:0"):
        return tf.stack([integer(seed), tf.constant(number, tf.int32)])


def keep_mask(
    shape, rate: float, seed: Seed, dtype=tf.float32, *, rows: str = SENTENCES, axis: int = 0
) -> tf.Tensor:
    """Draws an inverted-dropout mask: 0 with probability ``rate``, else 1 / (1 - rate).

    Args:
      shape: a list of integers or an int32 tensor.
      rate: in [0, 1).
      seed: [2] int32 tensor, or the seed of a part of a batch.
      dtype: of the mask.
      rows, axis: what the rows stand for, see ``PartSeed``, and their axis.
    """
    kept = uniform(shape, seed, rows=rows, axis=axis) >= rate
    return tf.cast(kept, dtype) / tf.cast(1.0 - rate, dtype)


def uniform(shape, seed: Seed, *, rows: str = SENTENCES, axis: int = 0) -> tf.Tensor:
    """Float32 numbers in [0, 1); arguments as of ``keep_mask``."""
    if not isinstance(seed, PartSeed):
        return philox_uniform(shape, seed)
    shape = tf.cast(tf.convert_to_tensor(shape), tf.int32)
    whole, first, count = seed.whole(shape, rows, axis)
    return tf.gather(philox_uniform(whole, seed.seed), first + tf.range(count), axis=axis)


def dropout(
    inputs: tf.Tensor,
    rate: float,
    seed: Seed | None,
    noise_shape=None,
    *,
    rows: str = SENTENCES,
    axis: int = 0,
) -> tf.Tensor:
    """Applies inverted dropout, see ``keep_mask``; without seed or rate ``inputs`` are untouched.

    ``noise_shape`` is that of the mask where it is broadcast, e.g. [B, 1, D] for one mask shared by
    all time steps; by default that of ``inputs``.
    """
    if seed is None or rate == 0.0:
        return inputs
    shape = tf.shape(inputs) if noise_shape is None else noise_shape
    return inputs * keep_mask(shape, rate, seed, inputs.dtype, rows=rows, axis=axis)


def stratified_mask(
    shape: Sequence[int], rate: float, seed: tf.Tensor, dtype: tf.DType = tf.float32
) -> tf.Tensor:
    """Draws M rows of an inverted-dropout mask, [M, width]: arguments as of `keep_mask`.

    Each row is one of independent units, as in `keep_mask`. Over the rows a unit is 0 in ``rate`` *
    M of them, rounded up or down: its M numbers, of which those below ``rate`` are dropped, lie one
    in each of M equal parts of [0, 1) (Latin hypercube sampling). So what a unit by itself adds to
    the mean of M samples is the same in each draw, or nearly, and the mean comes nearer to that of
    many samples (docs/lab/uncertainty.md).

    Reference: McKay, Beckman and Conover, 1979, "A Comparison of Three Methods for Selecting Values
      of Input Variables in the Analysis of Output from a Computer Code".
    """
    order, place = tf.unstack(philox_uniform([2, *shape], seed))
    part = tf.cast(tf.argsort(order, axis=0), tf.float32)  # a permutation of 0 to M - 1
    kept = (part + place) / shape[0] >= rate
    return tf.cast(kept, dtype) / tf.cast(1.0 - rate, dtype)
