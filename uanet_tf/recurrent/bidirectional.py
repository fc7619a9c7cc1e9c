"""A cell run over time in both directions."""

from collections.abc import Mapping

import tensorflow as tf

from uanet_tf.ops.cells import Cell
from uanet_tf.ops.initializers import block_orthogonal
from uanet_tf.ops.linear import linear

DIRECTIONS = ("forward", "backward")


class Bidirectional:
    """The weights of a forward and a backward cell, and their run over a batch.

    It is no layer: the weights belong to the layer that makes it, in its ``build``.

    Args:
      layer: the owner of the weights.
      cell: ``ops.cells.LSTM`` or ``GRU``.
      input_width: width D of the inputs.
      units: width H of the states of one direction.
      names: how a weight is called in the owner, of "{weight}" and "{way}".

    Attributes:
      kernels, recurrent_kernels, biases: the weights of each direction.
    """

    def __init__(
        self,
        layer: tf.keras.layers.Layer,
        cell: Cell,
        input_width: int,
        units: int,
        names: str = "{weight}_{way}",
    ):
        self.cell = cell
        self.kernels: dict[str, tf.Variable] = {}
        self.recurrent_kernels: dict[str, tf.Variable] = {}
        self.biases: dict[str, tf.Variable] = {}
        for way in DIRECTIONS:
            for table, weight, shape, initializer in (
                (self.kernels, "kernel", [input_width], "glorot_uniform"),
                (self.recurrent_kernels, "recurrent_kernel", [units], block_orthogonal),
                (self.biases, "bias", [], cell.first_bias),
            ):
                table[way] = layer.add_weight(
                    name=names.format(weight=weight, way=way),
                    shape=[*shape, cell.gates * units],
                    initializer=initializer,
                )

    def __call__(
        self,
        inputs: tf.Tensor,
        mask: tf.Tensor | None = None,
        recurrent_masks: Mapping[str, tf.Tensor] | None = None,
    ) -> list[tf.Tensor]:
        """States of both directions.

        Args:
          inputs: [T, N, D].
          mask: [T, N] booleans, True at tokens, right-padded; None: all are tokens.
          recurrent_masks: {direction: [N, H]}, on the previous state, the same at each step.

        Returns:
          Two tensors [T, N, H], forward and backward, in the order of time; exactly 0 at padding.
        """
        return [
            self._scan(inputs, mask, (recurrent_masks or {}).get(way), way) for way in DIRECTIONS
        ]

    def _scan(self, inputs, mask, recurrent_mask, way):
        projected = linear(inputs, self.kernels[way], self.biases[way])  # [T, N, G H]
        if mask is not None:
            projected = self.cell.close(projected, mask)
        kernel = tf.convert_to_tensor(self.recurrent_kernels[way])
        return self.cell.scan(projected, kernel, recurrent_mask, reverse=way == "backward")
