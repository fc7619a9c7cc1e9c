"""A moving average of the weights, for evaluation and the saved model."""

from collections.abc import Sequence

import tensorflow as tf

from uanet_tf.ops.graphs import graph_function

# Averaging touches every weight, embedding tables too: once in so many steps is enough.
AVERAGE_EVERY = 8


class WeightAverage(tf.Module):
    """Exponential moving average of variables (Polyak averaging).

    Early on the average is a plain mean of the weights so far, so that it does not remember
    their random start: the decay at update n is min(decay, (1 + n) / (10 + n)).

    Args:
      variables: the variables to average.
      decay: decay per step, in (0, 1).
    """

    def __init__(self, variables: Sequence[tf.Variable], decay: float):
        super().__init__(name="weight_average")
        self._sources = list(variables)
        self.averages = [tf.Variable(v, trainable=False) for v in self._sources]
        self.updates = tf.Variable(0, trainable=False, dtype=tf.int64)
        self._decay = decay**AVERAGE_EVERY

        # Graphs of only this object: TensorFlow warns of methods that many objects retrace.
        self._update_graph = graph_function()(self._update)
        self._swap_graph = graph_function()(self._swap)

    def update(self) -> None:
        """Adds the present weights to the average; to be called every AVERAGE_EVERY steps."""
        self._update_graph()

    def swap(self) -> None:
        """Exchanges weights and averages; a second call puts them back."""
        self._swap_graph()

    def _update(self) -> None:
        count = tf.cast(self.updates.assign_add(1), tf.float32)
        decay = tf.minimum(self._decay, (1.0 + count) / (10.0 + count))
        for average, source in zip(self.averages, self._sources, strict=True):
            average.assign_sub(tf.cast(1.0 - decay, average.dtype) * (average - source))

    def _swap(self) -> None:
        for average, source in zip(self.averages, self._sources, strict=True):
            weight = tf.identity(source)
            source.assign(average)
            average.assign(weight)
