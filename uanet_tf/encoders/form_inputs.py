"""Sentences whose words are rows of a table, under several rows of dropout masks at once."""

from typing import NamedTuple

import tensorflow as tf

from uanet_tf.encoders.encoder import Masks
from uanet_tf.ops.shapes import sizes


class FormInputs(NamedTuple):
    """J samples of B sentences as one batch; see ``sampled_forms``.

    Attributes:
      table: [R, D], the vectors that ``places`` counts.
      places: [J * B, T] int32, the row of each token; at padding any.
      mask: [J * B, T] boolean; None: all are tokens.
      masks: {name: [J * B, width]}.
      samples: J.
    """

    table: tf.Tensor
    places: tf.Tensor
    mask: tf.Tensor | None
    masks: Masks
    samples: int | tf.Tensor


def sampled_forms(
    forms: tf.Tensor, index: tf.Tensor, mask: tf.Tensor | None, masks: Masks, first: str
) -> FormInputs:
    """Gives each sample its own table, so that what a layer computes of a word is computed once.

    Args:
      forms: [U, D] vectors of distinct words.
      index: [B, T] int32, the row of each token.
      mask: [B, T] boolean, or None.
      masks: {name: [J, width]}; {}: one pass without dropout, J = 1.
      first: name of the mask on the vectors; it is applied.
    """
    if not masks:
        return FormInputs(forms, index, mask, {}, 1)
    count = sizes(next(iter(masks.values())))[0]
    batch, steps = sizes(index)
    table, places = forms, tf.tile(index, [count, 1])  # [J * B, T]
    if first in masks:
        table = tf.expand_dims(forms, 0) * tf.expand_dims(masks[first], 1)  # [J, U, D]
        starts = tf.range(count) * sizes(forms)[0]
        places = tf.expand_dims(index, 0) + tf.reshape(starts, [-1, 1, 1])  # [J, B, T]
        places = tf.reshape(places, [-1, steps])
        table = tf.reshape(table, [-1, forms.shape[-1]])  # [J * U, D]
    return FormInputs(
        table,
        places,
        None if mask is None else tf.tile(mask, [count, 1]),
        {name: tf.repeat(rows, batch, axis=0) for name, rows in masks.items() if name != first},
        count,
    )
