"""Graph functions whose Python is left as it is."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def graph_function(input_signature: list[Any] | None = None) -> Callable[[Callable], Any]:
    """A decorator: ``tf.function`` without AutoGraph.

    The package says ``tf.cond`` and ``tf.while_loop`` where it means them. Converting the code
    of every layer would take most of the time of making a graph.
    """
    return tf.function(input_signature=input_signature, autograph=False)
