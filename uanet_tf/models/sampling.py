"""Monte Carlo dropout: M samples of the draft as one tiled batch."""

import enum
from typing import Any

import tensorflow as tf

from uanet_tf.arguments import ArgumentError
from uanet_tf.encoders.encoder import Encoder, Masks
from uanet_tf.ops.graphs import LiteGraph, lite_argument
from uanet_tf.ops.shapes import reshape, sizes, spread


def sampling_seed(mc_seed: int) -> tf.Tensor:
    """The seed of the sampling masks: fixed, or new at each call where ``mc_seed`` < 0.

    A fixed one is a constant even while a graph is traced; see ``Encoder.sampling_masks``.
    """
    if mc_seed >= 0:
        with tf.init_scope():
            return tf.constant([mc_seed, 0], tf.int32)
    return tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)


def sample_states(
    encoder: Encoder,
    inputs: tf.Tensor,
    mask: tf.Tensor | None,
    *,
    num_samples: int,
    seed: tf.Tensor | None,
    index: tf.Tensor | None = None,
    lite: LiteGraph | None = None,
) -> tf.Tensor:
    """Encodes the same sentences under M samples of the encoder's weights.

    Sample j is one draw of masks over units, shared by all time steps and sentences: one sampled
    network W_j (Gal and Ghahramani, 2016). So the states of a sentence do not depend on the batch,
    the row or the padding around it. All samples run as one batch of M * B. Together the M draws
    are balanced: see ``ops.dropout.stratified_mask``.

    Args:
      inputs: [B, T, D] word vectors, computed once for all samples; with ``index`` [U, D], those
        of distinct words.
      mask: [B, T] boolean; None: all are tokens.
      num_samples: M; 0 gives one pass without dropout, M = 1 in the result [M, B, T, H].
      seed: [2] int32 seed of the masks; None where M is 0.
      index: [B, T] int32, the row of each token's word.
    """
    masks: Masks = {}
    if num_samples and seed is not None:
        masks = encoder.sampling_masks(seed, num_samples, inputs.shape[-1])
    if not masks:
        return tf.expand_dims(plain_states(encoder, inputs, mask, index, lite), 0)
    if index is not None:
        if encoder.reads_forms:
            return _tensor(encoder, encoder(inputs, mask=mask, dropout_masks=masks, index=index))
        inputs = spread(inputs, index)
    return encode_samples(encoder, inputs, mask, masks, num_samples, lite)


def plain_states(
    encoder: Encoder,
    inputs: tf.Tensor,
    mask: tf.Tensor | None,
    index: tf.Tensor | None = None,
    lite: LiteGraph | None = None,
) -> tf.Tensor:
    """States [B, T, H] of a pass without dropout; see ``sample_states``."""
    if index is None:
        return _tensor(encoder, encoder(inputs, mask=mask, **lite_argument(encoder, lite)))
    if encoder.reads_forms:
        return _tensor(encoder, encoder(inputs, mask=mask, dropout_masks={}, index=index))[0]
    return _tensor(encoder, encoder(spread(inputs, index), mask=mask))


def encode_samples(
    encoder: Encoder,
    inputs: tf.Tensor,
    mask: tf.Tensor | None,
    masks: Masks,
    count: int,
    lite: LiteGraph | None = None,
) -> tf.Tensor:
    """States [J, B, T, H] of the same sentences under J = ``count`` rows of dropout masks.

    ``inputs`` are word vectors [B, T, D], ``masks`` {name: [J, width]}, a row for each sample.
    """
    batch = tf.shape(inputs)[0]
    masks = {name: tf.repeat(rows, batch, axis=0) for name, rows in masks.items()}
    tiled = tf.tile(inputs, [count, 1, 1])  # [J * B, T, D]
    if mask is not None:
        mask = tf.tile(mask, [count, 1])
    states = encoder(tiled, mask=mask, dropout_masks=masks, **lite_argument(encoder, lite))
    return reshape(states, [count, *sizes(inputs)[:2], states.shape[-1]])  # [J, B, T, H]


def _tensor(encoder: Encoder, states: Any) -> tf.Tensor:
    """What an encoder returned; ArgumentError, if that is a tuple, or nothing."""
    if not tf.is_tensor(states):
        raise ArgumentError(
            f"{type(encoder).__name__} must return a tensor of states. "
            f"Received: {type(states).__name__}"
        )
    return states


class DropoutSeed(enum.IntEnum):
    """Consumers of a training step's seed, see ``ops.dropout.fold_in``."""

    REPRESENTATION = 0
    ENCODER = 1
    REFINER = 2
    DECODER = 3
    READING = 4  # what a representation computes once per step (a pretrained encoder)


class RefinerSeed(enum.IntEnum):
    """Consumers of the refiner's seed."""

    WORDS = 0
    BLOCKS = 1
    DOCUMENT = 2
