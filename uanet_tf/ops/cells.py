"""Recurrent cells: what a layer has to know of one to run it over padded sequences."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.gru import close_padding, gru_scan
from uanet_tf.ops.initializers import forget_one
from uanet_tf.ops.lstm import PADDING_SHIFT, lstm_scan


@dataclasses.dataclass(frozen=True)
class Cell:
    """A recurrence as ``ops.lstm`` and ``ops.gru`` write it.

    Attributes:
      gates: G, the blocks that stand side by side in a kernel [H, G H].
      scan: the recurrence, from projected inputs [T, N, G H] to states [T, N, H].
      close: makes each state at padding exactly 0, given projected inputs and a mask [T, N].
      first_bias: initializer of the bias [G H].
    """

    gates: int
    scan: Callable[..., tf.Tensor]
    close: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
    first_bias: str | Callable[..., tf.Tensor]


def close_lstm_padding(projected: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Closes the input and forget gates at padding, so that cell and state stay 0 there.

    By selection: what stands in the padding, even NaN, does not reach the result.

    Args:
      projected: [T, N, 4H], the projected inputs of ``lstm_scan``.
      mask: [T, N] booleans, True = token.
    """
    half = projected.shape[-1] // 2
    closed = tf.constant([PADDING_SHIFT] * half + [0.0] * half, projected.dtype)
    return tf.where(tf.expand_dims(mask, -1), projected, closed)


LSTM = Cell(4, lstm_scan, close_lstm_padding, forget_one)
GRU = Cell(3, gru_scan, close_padding, "zeros")
