"""A cell run over time in both directions."""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from uanet_tf.ops.cudnn import bidirectional_lstm, packed_weights
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.numerics import linear
from uanet_tf.ops.recurrence import LSTM, Cell, block_orthogonal, fused_lstm

DIRECTIONS = ("forward", "backward")
# Rows of padding in a table: as many as keep its number of rows a multiple, see ``filled_size``.
_PADDING_ROWS = 8


class Bidirectional:
    """The weights of a forward and a backward cell, and their run over a batch.

    It is no layer: the weights belong to the layer that makes it, in its ``build``.

    Args:
      layer: the owner of the weights.
      cell: ``ops.recurrence.LSTM`` or ``GRU``.
      input_width, units: widths D of the inputs and H of the states of one direction.
      names: pattern of the weights' names in the owner, with "{weight}" and "{way}".
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
                name = names.format(weight=weight, way=way)
                shape = [*shape, cell.gates * units]
                table[way] = layer.add_weight(name, shape, initializer=initializer)

    def __call__(
        self,
        inputs: tf.Tensor,
        mask: tf.Tensor | None = None,
        recurrent_masks: Mapping[str, tf.Tensor] | None = None,
        places: tf.Tensor | None = None,
        lite: LiteGraph | None = None,
    ) -> list[tf.Tensor]:
        """States [T, N, H] forward and backward, in the order of time; exactly 0 at padding.

        Args:
          inputs: [T, N, D]; with ``places`` a table [R, D] of inputs, each of which is multiplied
            by the kernels once, however often it occurs.
          mask: [T, N] booleans, True at tokens, right-padded; None: all are tokens.
          recurrent_masks: {direction: [N, H]}, on the previous state, the same at each step.
          places: [T, N] int32, the row of the table that each step reads; not with ``lite``.
        """
        tied = recurrent_masks or {}
        if lite and lite.fused_lstm and self._is_lstm_of_a_sentence(inputs, tied):
            return [
                fused_lstm(inputs, *self._weights(way), reverse=way == "backward")
                for way in DIRECTIONS
            ]
        if places is None:
            project = self._from_inputs(inputs, mask, lite)
        else:
            project = self._from_table(inputs, mask, places)
        states = []
        for way in DIRECTIONS:
            kernel = tf.convert_to_tensor(self.recurrent_kernels[way])
            reverse = way == "backward"
            found = self.cell.scan(project(way), kernel, tied.get(way), reverse=reverse, lite=lite)
            states.append(found)
        return states

    def at_once(
        self,
        inputs: Sequence[tf.Tensor],
        lengths: tf.Tensor,
        input_masks: tf.Tensor | None,
        recurrent_masks: Sequence[tf.Tensor | None],
    ) -> list[tf.Tensor]:
        """States of both directions in J samples of a network of LSTMs, on a GPU without loops.

        Args:
          inputs: J times [T, N, D].
          lengths: [N] int32.
          input_masks: [J, D], or None.
          recurrent_masks: of each direction [J, H], or None.

        Returns: J times [T, N, 2H]; zeros at padding, but at the first token of an empty row.
        """
        ways = [self._weights(way) for way in DIRECTIONS]
        weights = packed_weights(ways, input_masks, recurrent_masks, len(inputs))
        units = self.recurrent_kernels[DIRECTIONS[0]].shape[0]
        lengths = tf.maximum(lengths, 1)
        pairs = zip(inputs, tf.unstack(weights, len(inputs)), strict=True)
        return [bidirectional_lstm(part, lengths, each, units) for part, each in pairs]

    def _from_inputs(self, inputs, mask, lite) -> Callable[[str], tf.Tensor]:
        """Gives the gates' part of the inputs, [T, N, G H], of a direction."""
        # A quantised kernel cannot hold the large numbers of a ``padding_row`` beside its weights.
        is_marked = mask is not None and lite is None
        padding = None
        if is_marked:
            inputs = mark_padding(inputs, mask)
        elif mask is not None:
            inputs = tf.where(tf.expand_dims(mask, -1), inputs, tf.zeros([], inputs.dtype))
            padding = tf.expand_dims(tf.cast(~mask, inputs.dtype), -1)  # [T, N, 1]

        def project(way):
            kernel, bias = self._input_weights(way, inputs.dtype)
            row = self.cell.padding_row(bias)
            if is_marked:
                kernel = tf.concat([kernel, tf.expand_dims(row, axis=0)], axis=0)
            projected = linear(inputs, kernel, bias)
            return projected if padding is None else projected + padding * row

        return project

    def _from_table(self, table, mask, places) -> Callable[[str], tf.Tensor]:
        """The same of inputs that are rows of a table [R, D], which has rows for padding here."""
        closed = None
        if mask is not None:
            end = tf.shape(table)[0]
            places = tf.where(mask, places, end)
            table = tf.pad(table, [[0, _PADDING_ROWS], [0, 0]])
            closed = tf.expand_dims(tf.range(end, end + _PADDING_ROWS), -1)

        def project(way):
            kernel, bias = self._input_weights(way, table.dtype)
            projected = linear(table, kernel, bias)  # [R, G H]
            if closed is not None:
                row = tf.expand_dims(bias + self.cell.padding_row(bias), axis=0)
                rows = tf.repeat(row, _PADDING_ROWS, axis=0)
                projected = tf.tensor_scatter_nd_update(projected, closed, rows)  # in place
            return tf.gather(projected, places)

        return project

    def _input_weights(self, way, dtype) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.cast(self.kernels[way], dtype), tf.cast(self.biases[way], dtype)

    def _is_lstm_of_a_sentence(self, inputs, recurrent_masks) -> bool:
        if self.cell is not LSTM or inputs.shape[1] != 1 or inputs.dtype != tf.float32:
            return False
        return all(mask is None for mask in recurrent_masks.values())

    def _weights(self, way) -> list[tf.Tensor]:
        weights = (self.kernels, self.recurrent_kernels, self.biases)
        return [tf.convert_to_tensor(part[way]) for part in weights]


def mark_padding(inputs: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Inputs [..., D + 1]: 0 at padding, and 0 everywhere else a column that is 1 there.

    So the product with a kernel whose last row is a cell's ``padding_row`` closes the gates at
    padding, without another pass over the wider product. By selection: values at
    padding, even NaN, do not reach the result.
    """
    mask = tf.expand_dims(mask, -1)
    kept = tf.where(mask, inputs, tf.zeros([], inputs.dtype))
    return tf.concat([kept, tf.cast(~mask, inputs.dtype)], axis=-1)
