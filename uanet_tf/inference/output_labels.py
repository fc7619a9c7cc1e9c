"""From predicted classes to labels in the scheme of the user's files, inside the graph."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_tf.ops.chain import chunk_boundaries

# Prefix of a token by (first of its chunk, last of its chunk); in IOB1 it also depends on
# whether the token before is in a chunk of the same type.
_PREFIXES = {
    "IOB2": {(1, 0): "B", (1, 1): "B", (0, 0): "I", (0, 1): "I"},
    "BIOES": {(1, 0): "B", (1, 1): "S", (0, 0): "I", (0, 1): "E"},
    "BILOU": {(1, 0): "B", (1, 1): "U", (0, 0): "I", (0, 1): "L"},
    "BMES": {(1, 0): "B", (1, 1): "S", (0, 0): "M", (0, 1): "E"},
}


class OutputLabels:
    """Maps class ids to output labels; for chunks, always a valid sequence.

    Args:
      classes: labels of the model, id = position; BIOES where ``scheme`` is given.
      scheme: scheme of the output (IOB1, IOB2, BIOES, BILOU, BMES); None: classes as they are.

    Attributes:
      names: the labels.
      of_classes: [C] the label of each class in a valid sequence, as a position in ``names``; in
        IOB1 where no chunk of its type is right before it.
    """

    def __init__(self, classes: Sequence[str], scheme: str | None):
        self.scheme = scheme
        if scheme is None:
            self.names = list(classes)
            self.of_classes = np.arange(len(classes))
            return
        # "-PER" of "B-PER"; "" where chunks have no type. Number 0 is outside.
        suffixes = [None if name == "O" else name[1:] for name in classes]
        types = list(dict.fromkeys(suffix for suffix in suffixes if suffix is not None))
        numbers = {suffix: number + 1 for number, suffix in enumerate(types)}
        of_class = [0 if suffix is None else numbers[suffix] for suffix in suffixes]
        starts, ends = ([name[:1] in letters for name in classes] for letters in ("BS", "ES"))
        self._types = tf.constant(of_class, tf.int32)
        self._starts, self._ends = tf.constant(starts), tf.constant(ends)
        self.names = ["O"]
        table = np.zeros([len(types) + 1, 2, 2, 2], np.int32)
        for suffix, number in numbers.items():
            for key in np.ndindex(2, 2, 2):
                label = _prefix(scheme, *key) + suffix
                if label not in self.names:
                    self.names.append(label)
                table[(number, *key)] = self.names.index(label)
        self._table = tf.constant(table)
        flags = np.array([of_class, starts, ends], np.int32)
        self.of_classes = table[flags[0], flags[1], flags[2], 0]

    def __call__(
        self, class_ids: tf.Tensor, mask: tf.Tensor, *, are_valid: bool = False
    ) -> tf.Tensor:
        """[B, T] class ids to [B, T] positions in ``names``; any value at padding.

        Args:
          class_ids: [B, T] int32.
          mask: [B, T] boolean.
          are_valid: whether they are known to be valid sequences. Then a class has one label, but
            in IOB1.
        """
        if self.scheme is None:
            return class_ids
        if are_valid and self.scheme != "IOB1":  # there a label depends on the one before
            return tf.gather(tf.constant(self.of_classes), class_ids)
        types = tf.gather(self._types, class_ids)
        starts, ends = tf.gather(self._starts, class_ids), tf.gather(self._ends, class_ids)
        return self._labels(types, *chunk_boundaries(types, starts, ends, mask))

    def _labels(self, types, begins, finishes, touches) -> tf.Tensor:
        flags = [tf.cast(flag, tf.int32) for flag in (begins, finishes, touches)]
        return tf.gather_nd(self._table, tf.stack([types, *flags], axis=-1))


def _prefix(scheme: str, begins: int, finishes: int, touches: int) -> str:
    if scheme == "IOB1":
        return "B" if begins and touches else "I"
    return _PREFIXES[scheme][begins, finishes]
