"""Graph functions whose Python code is not converted."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def graph_function(
    input_signature: list[Any] | None = None, attributes: dict[str, Any] | None = None
) -> Callable[[Callable], Any]:
    """A decorator: ``tf.function`` without AutoGraph.

    The package calls ``tf.cond`` and ``tf.while_loop`` itself. Converting the code
    of every layer would take most of the time of tracing a graph.

    Args:
      input_signature: a TensorSpec for each argument; None: traced for what it is called with.
      attributes: of the function in the graph.
    """
    return tf.function(  # noqa: TID251
        input_signature=input_signature, autograph=False, experimental_attributes=attributes
    )
