"""From arrays of tokens to answers, in graphs that are made once."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from uanet_tf.models.answers import Tensors
from uanet_tf.ops.graphs import LazyGraph
from uanet_tf.representation.representation import DOCUMENT

_STRINGS = tf.TensorSpec([None, None], tf.string)
_NUMBERS = tf.TensorSpec([None], tf.int32)


class TagGraphs:
    """The graphs of a tagger, one of them for batches with documents; for any thread.

    Args:
      answer: from a dictionary of ``tokens``, ``lengths`` and maybe ``document`` to answers.
    """

    def __init__(self, answer: Callable[[Tensors], Tensors]):
        def alone(tokens: tf.Tensor, lengths: tf.Tensor) -> Tensors:
            return answer({"tokens": tokens, "lengths": lengths})

        def together(tokens: tf.Tensor, lengths: tf.Tensor, documents: tf.Tensor) -> Tensors:
            return answer({"tokens": tokens, "lengths": lengths, DOCUMENT: documents})

        self._alone = LazyGraph(alone, [_STRINGS, _NUMBERS])
        self._together = LazyGraph(together, [_STRINGS, _NUMBERS, _NUMBERS])

    def __call__(
        self, tokens: np.ndarray, lengths: np.ndarray, documents: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """The answers for one padded batch, see ``Tagger.tag_batch``."""
        inputs = [tf.constant(tokens, tf.string), tf.constant(lengths, tf.int32)]
        if documents is None:
            answers = self._alone(*inputs)
        else:
            answers = self._together(*inputs, tf.constant(documents, tf.int32))
        return {name: values.numpy() for name, values in answers.items()}

    def forget(self) -> None:
        """The next calls make the graphs anew."""
        self._alone.forget()
        self._together.forget()
