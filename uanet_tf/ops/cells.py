"""Recurrent cells, described for layers that run them over padded sequences."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.gru import gru_padding_row, gru_scan
from uanet_tf.ops.initializers import forget_one
from uanet_tf.ops.lstm import PADDING_SHIFT, lstm_scan


@dataclasses.dataclass(frozen=True)
class Cell:
    """A recurrence of ``ops.lstm`` or ``ops.gru``.

    Attributes:
      gates: G, the number of blocks side by side in a kernel [H, G H].
      scan: the recurrence, from projected inputs [T, N, G H] to states [T, N, H].
      padding_row: given the bias [G H], what is added to it at padding, so that the state there is
        exactly 0.
      first_bias: initializer of the bias [G H].
    """

    gates: int
    scan: Callable[..., tf.Tensor]
    padding_row: Callable[[tf.Tensor], tf.Tensor]
    first_bias: str | Callable[..., tf.Tensor]


def lstm_padding_row(bias: tf.Tensor) -> tf.Tensor:
    """Closes the input and forget gates, so that cell and state stay 0."""
    half = bias.shape[0] // 2
    return tf.constant([PADDING_SHIFT] * half + [0.0] * half, bias.dtype)


LSTM = Cell(4, lstm_scan, lstm_padding_row, forget_one)
GRU = Cell(3, gru_scan, gru_padding_row, "zeros")
