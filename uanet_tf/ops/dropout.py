"""Dropout as a pure function of an explicit seed.

Every layer of the package takes ``dropout_seed`` at call time: ``None`` means that
nothing is dropped, a seed determines the mask. So whether a layer samples is the caller's
choice, a resumed training run repeats the masks of the run it continues, and a
Monte Carlo sample is the same in every batch and process.
"""

from typing import Any

import tensorflow as tf

from uanet_tf.ops.part_seed import SENTENCES, PartSeed, Seed
from uanet_tf.ops.philox import integer, philox_uniform


def make_seed(seed: int | tf.Tensor, step: int | tf.Tensor = 0) -> tf.Tensor:
    """Returns the [2] int32 seed of one training step (or of one purpose).

    Args:
      seed: the run's seed, an integer.
      step: the global training step, or any other counter.
    """
    return tf.stack([tf.cast(seed, tf.int32), tf.cast(step, tf.int32)])


def fold_in(seed: Seed | None, number: int) -> Any:
    """Derives an independent seed for the ``number``-th consumer of ``seed``.

    ``None`` stays ``None``, so that "no dropout" passes through nested layers.
    """
    if seed is None:
        return None
    if isinstance(seed, PartSeed):
        return seed._replace(seed=fold_in(seed.seed, number))
    return tf.stack([integer(seed), tf.constant(number, tf.int32)])


def keep_mask(
    shape, rate: float, seed: Seed, dtype=tf.float32, *, rows: str = SENTENCES, axis: int = 0
) -> tf.Tensor:
    """Draws an inverted-dropout mask: 0 with probability ``rate``, else 1 / (1 - rate).

    Args:
      shape: shape of the mask, a list of integers or an int32 tensor.
      rate: probability of a zero, in [0, 1).
      seed: [2] int32 tensor, or the seed of a part of a batch.
      dtype: dtype of the mask.
      rows: what the rows stand for, see ``PartSeed``.
      axis: of the rows.
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
    """Applies inverted dropout; returns ``inputs`` untouched without a seed or rate.

    Args:
      inputs: any float tensor.
      rate: probability of dropping an element, in [0, 1).
      seed: as of ``keep_mask``, or None for no dropout.
      noise_shape: shape of the mask where it is broadcast, e.g. [B, 1, D] for one
        mask shared by all time steps. Default: the shape of ``inputs``.
      rows: what the rows stand for, see ``PartSeed``.
      axis: of the rows.
    """
    if seed is None or rate == 0.0:
        return inputs
    shape = tf.shape(inputs) if noise_shape is None else noise_shape
    return inputs * keep_mask(shape, rate, seed, inputs.dtype, rows=rows, axis=axis)
