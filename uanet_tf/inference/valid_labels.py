"""The most probable label sequence that the tag scheme allows."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from uanet_lite.tag_schemes import valid_transitions
from uanet_tf.ops.chain import best_path
from uanet_tf.ops.masking import keep, padding_mask

_SMALLEST = 1e-12  # probabilities below count as this


class ValidLabels:
    """Replaces a label sequence that is not valid by the most probable one that is.

    Labels are decided token by token, so "B-PER E-LOC" can happen. Among the sequences that
    the scheme allows, the one with the largest product of the tokens' probabilities is taken.
    If the most probable labels form a valid sequence, they are that sequence, so only the others
    are searched: a few sentences in a hundred.

    Args:
      names: labels of the model, id = position.
      scheme: their tag scheme; None: every sequence is valid.
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
        self, label_ids: Sequence[tf.Tensor], probabilities: Sequence[tf.Tensor], mask: tf.Tensor
    ) -> list[tf.Tensor]:
        """Valid label ids for each of K label sequences of the same sentences.

        Args:
          label_ids: K times [B, T] int32, 0 at padding.
          probabilities: K times [B, T, C], the distributions that they were decided from.
          mask: [B, T] boolean.

        Returns:
          K times [B, T] int32, 0 at padding.
        """
        if self.scheme is None:
            return list(label_ids)
        is_one_sentence = mask.shape[0] == 1
        ids = tf.concat(label_ids, axis=0)  # [K * B, T]
        masks = padding_mask(mask)
        if masks is not None:
            masks = tf.tile(masks, [len(label_ids), 1])
        valid = self._valid(ids, masks)  # [K * B]

        def search() -> tf.Tensor:
            p = tf.concat(probabilities, axis=0)
            if is_one_sentence:  # there is no other to leave out
                wrong = keep(masks, tf.logical_not(tf.expand_dims(valid, 1)), False)
                return tf.where(wrong, self._best(p, masks), ids)
            rows = tf.where(tf.logical_not(valid))  # [R, 1]
            kept = None if masks is None else tf.gather(masks, rows[:, 0])
            path = keep(kept, self._best(tf.gather_nd(p, rows), kept))
            return tf.tensor_scatter_nd_update(ids, rows, path)

        found = tf.cond(tf.reduce_all(valid), lambda: ids, search)
        return tf.split(found, len(label_ids), axis=0)

    def _best(self, probabilities: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
        """The most probable valid label ids of each row, [N, T]; any at padding."""
        scores = tf.math.log(tf.maximum(probabilities, _SMALLEST))
        return best_path(scores, mask, self._start, self._steps, self._end)

    def _valid(self, ids: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
        """Whether each row of [N, T] ids is a sequence that the scheme allows: [N]."""
        around = len(self._end)
        if mask is not None:
            ids = tf.where(mask, ids, around)
        ids = tf.pad(ids, [[0, 0], [1, 1]], constant_values=around)
        pairs = ids[:, :-1] * (around + 1) + ids[:, 1:]
        return tf.reduce_all(tf.gather(self._pairs.ravel(), pairs), axis=1)
