"""What a part of a tagger returns, checked where the next part would fail on it."""

from numbers import Integral, Real
from typing import Any

import tensorflow as tf

from uanet_tf.decoders.decoder import Decoder
from uanet_tf.encoders.encoder import Encoder
from uanet_tf.errors import ArgumentError
from uanet_tf.representation.representation import Representation


def check_masks(part: Encoder) -> None:
    """Raises ArgumentError unless an encoder names masks as {name: (width, rate)}."""
    masks = part.mask_widths(1)
    if not (isinstance(masks, dict) and all(map(_is_mask, masks.values()))):
        raise ArgumentError(
            f"mask_widths of {type(part).__name__} must return a dictionary {{name: (width, rate)}}"
            f", with positive widths and rates in [0, 1). Received: {masks!r:.60}"
        )


def _is_mask(pair: Any) -> bool:
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        return False
    width, rate = pair
    if not (isinstance(width, Integral) and isinstance(rate, Real)):
        return False
    return int(width) > 0 and 0.0 <= float(rate) < 1.0


def check_vectors(part: Representation, vectors: tf.Tensor, index: tf.Tensor) -> None:
    """Raises ArgumentError unless a representation gave vectors [B, T, D].

    Args:
      part: the representation.
      vectors: what its call returned.
      index: [B, T], of the same batch.
    """
    shape = vectors.shape
    if shape.rank != 3 or not shape[:2].is_compatible_with(index.shape):
        raise ArgumentError(
            f"{type(part).__name__} must return vectors [B, T, D], with B and T of `form_index`, "
            f"which is {index.shape}. Received: shape={shape}"
        )


def check_states(part: Encoder, states: tf.Tensor, mask: tf.Tensor, *, are_samples: bool) -> None:
    """Raises ArgumentError unless an encoder gave states [N, T, H].

    Args:
      part: the encoder.
      states: [B, T, H], made of what its call returned.
      mask: [B, T].
      are_samples: whether the states are [M, B, T, H].
    """
    shape = states.shape[1:] if are_samples else states.shape
    if shape.rank != 3 or not shape[:2].is_compatible_with(mask.shape):
        raise ArgumentError(
            f"{type(part).__name__} must return states [N, T, H], with N and T of its mask, which "
            f"is {mask.shape}. Received: shape={shape}"
        )


def check_distribution(part: Decoder, probabilities: tf.Tensor) -> None:
    """Raises ArgumentError where a decoder gave other numbers than distributions.

    Args:
      part: the decoder.
      probabilities: [B, T, C] of a draft that was made outside a graph.
    """
    total = float(tf.reduce_sum(probabilities[0, 0]))
    least = float(tf.reduce_min(probabilities))
    if abs(total - 1) > 0.05 or least < 0:  # not for NaN, which other parts may give
        raise ArgumentError(
            f"label_samples of {type(part).__name__} must return distributions, of numbers of at "
            f"least 0 that add up to 1. Received: sum={total:.4g}, least={least:.4g}"
        )


def check_logits(part: Decoder) -> None:
    """Raises ArgumentError unless a decoder whose draft is refined has the method ``logits``."""
    if not callable(getattr(part, "logits", None)):
        raise ArgumentError(
            f"{type(part).__name__} is of a decoder in REFINED_DECODERS (uanet_tf/registry.py) and "
            "must define logits."
        )


def check_classes(part: Decoder, logits: tf.Tensor) -> None:
    """Raises ArgumentError unless ``logits`` of a decoder gave a score [B, T, C] of each label."""
    wanted = tf.TensorShape([None, None, part.num_classes])
    if not (tf.is_tensor(logits) and wanted.is_compatible_with(logits.shape)):
        shape = logits.shape if tf.is_tensor(logits) else type(logits).__name__
        raise ArgumentError(
            f"logits of {type(part).__name__} must return scores [B, T, {part.num_classes}] of "
            f"states [B, T, H]. Received: {shape}"
        )
