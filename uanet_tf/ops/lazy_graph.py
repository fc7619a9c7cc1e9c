"""A graph that is made when it is first called."""

import threading
from collections.abc import Callable
from typing import Any

from uanet_tf.ops.graph_function import graph_function


class LazyGraph:
    """The graph of a function for one signature; may be called from several threads.

    A concrete function: TensorFlow counts how often others are traced again, and warns who loads
    several models or tries several M.

    Args:
      function: of tensors.
      signature: a TensorSpec for each.
    """

    def __init__(self, function: Callable, signature: list[Any]):
        self._function = function
        self._signature = signature
        self._graph: Any = None
        self._tracing = threading.Lock()

    def __call__(self, *tensors: Any) -> Any:
        """The function's result."""
        with self._tracing:  # threads that begin together share one graph
            if self._graph is None:
                made = graph_function(self._signature)(self._function)
                self._graph = made.get_concrete_function()
            graph = self._graph
        return graph(*tensors)

    def forget(self) -> None:
        """The next call makes the graph anew."""
        self._graph = None
