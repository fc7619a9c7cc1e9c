"""Graph functions whose Python code is not converted."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def graph_function(input_signature: list[Any] | None = None) -> Callable[[Callable], Any]:
    """A decorator: ``tf.function`` without AutoGraph.

    The package calls ``tf.cond`` and ``tf.while_loop`` itself. Converting the code
    of every layer would take most of the time of tracing a graph.
    """
    return tf.function(input_signature=input_signature, autograph=False)
