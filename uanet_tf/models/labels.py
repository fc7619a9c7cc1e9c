"""Label sequences inside the graph: valid ones, those of the user's scheme, and their chunks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from uanet_lite.tag_schemes import split_label, valid_transitions
from uanet_tf.ops.chain import best_path, chunk_boundaries
from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.masking import keep

# Prefix of a token by (first of its chunk, last of its chunk); in IOB1 it also depends on
# whether the token before is in a chunk of the same type.
_PREFIXES = {
    "IOB2": {(1, 0): "B", (1, 1): "B", (0, 0): "I", (0, 1): "I"},
    "BIOES": {(1, 0): "B", (1, 1): "S", (0, 0): "I", (0, 1): "E"},
    "BILOU": {(1, 0): "B", (1, 1): "U", (0, 0): "I", (0, 1): "L"},
    "BMES": {(1, 0): "B", (1, 1): "S", (0, 0): "M", (0, 1): "E"},
    "BMEWO": {(1, 0): "B", (1, 1): "W", (0, 0): "M", (0, 1): "E"},
}


class OutputLabels:
    """Maps class ids to output labels; for chunks, always a valid sequence.

    Args:
      classes: labels of the model, id = position; BIOES where ``scheme`` is given.
      scheme: scheme of the output, one of ``SCHEMES``; None: classes as they are.

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
        self, class_ids: tf.Tensor, mask: tf.Tensor | None, *, are_valid: bool = False
    ) -> tf.Tensor:
        """[B, T] int32 class ids to [B, T] positions in ``names``; any value at padding.

        Where they are known to be valid sequences a class has one label, but in IOB1.
        """
        if self.scheme is None:
            return class_ids
        if are_valid and self.scheme != "IOB1":  # there a label depends on the one before
            return tf.gather(tf.constant(self.of_classes), class_ids)
        types = tf.gather(self._types, class_ids)
        starts, ends = tf.gather(self._starts, class_ids), tf.gather(self._ends, class_ids)
        flags = [tf.cast(flag, tf.int32) for flag in chunk_boundaries(types, starts, ends, mask)]
        return tf.gather_nd(self._table, tf.stack([types, *flags], axis=-1))


def _prefix(scheme: str, begins: int, finishes: int, touches: int) -> str:
    if scheme == "IOB1":
        return "B" if begins and touches else "I"
    return _PREFIXES[scheme][begins, finishes]


class Chunks(NamedTuple):
    """The S chunks of B sentences, sentence by sentence, from left to right."""

    counts: tf.Tensor  # [B] int64, chunks of each sentence
    types: tf.Tensor  # [S] strings, such as "ORG"
    first: tf.Tensor  # [S, 2] int64, sentence and position of their first token
    last: tf.Tensor  # as these of their last one
    inside: tf.Tensor  # [B, T] boolean, the tokens of chunks
    of_token: tf.Tensor  # int32, for each token inside, in order, the number of its chunk


class OutputChunks:
    """Finds the chunks of label sequences in any tag scheme; ``names`` are the output labels."""

    def __init__(self, names: Sequence[str]):
        letters, types = zip(*map(split_label, names), strict=True)
        inside = [letter != "O" for letter in letters]
        self._type_names = tf.constant(["", *dict.fromkeys(types)])
        numbers = {name: number + 1 for number, name in enumerate(dict.fromkeys(types))}
        self._types = tf.constant(
            [numbers[name] if kept else 0 for name, kept in zip(types, inside, strict=True)]
        )
        self._starts = tf.constant([letter in "BSUW" for letter in letters])
        self._ends = tf.constant([letter in "ESLUW" for letter in letters])

    def __call__(self, label_ids: tf.Tensor, mask: tf.Tensor) -> Chunks:
        """The chunks of [B, T] label ids; none at padding."""
        types = tf.where(mask, tf.gather(self._types, label_ids), 0)
        starts, ends = tf.gather(self._starts, label_ids), tf.gather(self._ends, label_ids)
        begins, finishes, _ = chunk_boundaries(types, starts, ends, mask)
        inside, first = types > 0, tf.where(begins)
        return Chunks(
            counts=tf.reduce_sum(tf.cast(begins, tf.int64), axis=1),
            types=tf.gather(self._type_names, tf.gather_nd(types, first)),
            first=first,
            last=tf.where(finishes),
            inside=inside,
            of_token=tf.cumsum(tf.cast(tf.boolean_mask(begins, inside), tf.int32)) - 1,
        )


_SMALLEST = 1e-12  # probabilities below count as this


class ValidLabels:
    """Replaces a label sequence that is not valid by the most probable one that is.

    Labels are decided token by token, so "B-PER E-LOC" can happen. Among the sequences that the
    scheme allows, the one with the largest product of the tokens' probabilities is taken. If the
    most probable labels form a valid sequence, they are that sequence, so only the others are
    searched: a few sentences in a hundred. Without a scheme every sequence is valid.
    """

    def __init__(self, names: Sequence[str], scheme: str | None):
        self.scheme = scheme
        if scheme is None:
            return
        self._start, self._steps, self._end = valid_transitions(names, scheme)
        # The same as one table, with a last class that is what stands around a sentence.
        around = np.append(self._start, True)[np.newaxis]
        steps = np.concatenate([self._steps, self._end[:, np.newaxis]], axis=1)
        self._pairs = np.concatenate([steps, around])

    def __call__(
        self,
        label_ids: Sequence[tf.Tensor],
        probabilities: Sequence[tf.Tensor],
        mask: tf.Tensor | None,
        lite: LiteGraph | None = None,
    ) -> list[tf.Tensor]:
        """Valid label ids, K times [B, T], for K label sequences of the same sentences.

        The label ids given are int32, 0 at padding, as those returned; the probabilities, K times
        [B, T, C], are the distributions that they were decided from.
        """
        if self.scheme is None:
            return list(label_ids)
        is_one_sentence = label_ids[0].shape[0] == 1
        ids = tf.concat(label_ids, axis=0)  # [K * B, T]
        masks = None if mask is None else tf.tile(mask, [len(label_ids), 1])
        valid = self._valid(ids, masks)  # [K * B]

        def search() -> tf.Tensor:
            p = tf.concat(probabilities, axis=0)
            if is_one_sentence:  # there is no other to leave out
                wrong = keep(masks, tf.logical_not(tf.expand_dims(valid, 1)), False)
                return tf.where(wrong, self._best(p, masks, lite), ids)
            rows = tf.where(tf.logical_not(valid))  # [R, 1]
            kept = None if masks is None else tf.gather(masks, rows[:, 0])
            path = keep(kept, self._best(tf.gather_nd(p, rows), kept, lite))
            return tf.tensor_scatter_nd_update(ids, rows, path)

        found = tf.cond(tf.reduce_all(valid), lambda: ids, search)
        return tf.split(found, len(label_ids), axis=0)

    def _best(
        self, probabilities: tf.Tensor, mask: tf.Tensor | None, lite: LiteGraph | None
    ) -> tf.Tensor:
        """The most probable valid label ids of each row, [N, T]; any at padding."""
        scores = tf.math.log(tf.maximum(probabilities, _SMALLEST))
        return best_path(scores, mask, self._start, self._steps, self._end, lite)[0]

    def _valid(self, ids: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
        """Whether each row of [N, T] ids is a sequence that the scheme allows: [N]."""
        around = len(self._end)
        if mask is not None:
            ids = tf.where(mask, ids, around)
        ids = tf.pad(ids, [[0, 0], [1, 1]], constant_values=around)
        pairs = ids[:, :-1] * (around + 1) + ids[:, 1:]
        return tf.reduce_all(tf.gather(self._pairs.ravel(), pairs), axis=1)
