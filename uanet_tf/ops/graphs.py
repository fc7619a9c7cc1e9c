"""How graphs are made: without AutoGraph, lazily, and with written-out gradients."""

import dataclasses
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record


def graph_function(
    input_signature: list[Any] | None = None, attributes: dict[str, Any] | None = None
) -> Callable[[Callable], Any]:
    """A decorator: ``tf.function`` without AutoGraph.

    The package calls ``tf.cond`` and ``tf.while_loop`` itself. Converting the code of every layer
    would take most of the time of tracing a graph. ``attributes`` are those of the function in it.
    Without a TensorSpec for each argument it is traced for what it is called with.
    """

    def decorate(function: Callable) -> Any:
        graph = tf.function(  # noqa: TID251
            function, input_signature, autograph=False, experimental_attributes=attributes
        )
        # Each model has a graph of its own of the same function; TensorFlow would warn of it.
        graph._omit_frequent_tracing_warning = True
        return graph

    return decorate


@dataclasses.dataclass(frozen=True)
class LiteGraph:
    """That a graph is made for TensorFlow Lite: for one sentence at a time, without padding.

    What computes otherwise there takes it as the argument ``lite``; None: a graph of TensorFlow.
    The answers are the same.

    Attributes:
      longest: tokens of the longest sentence whose distances are rows of a table, which is a
        constant of the graph; in longer ones the largest distances count as the largest of the
        table. 0: there is none.
      fused_lstm: whether an LSTM that runs once, without masks, is the runtime's own operation.
    """

    longest: int = 0
    fused_lstm: bool = False


def lite_argument(part: Any, lite: LiteGraph | None) -> dict[str, LiteGraph]:
    """The keyword argument for a part of a tagger, which takes it if it ``reads_lite``."""
    return {"lite": lite} if lite is not None and part.reads_lite else {}


# From (gradient of the value, the inputs, what was kept) to the gradients of the inputs.
GradientFunction = Callable[..., Sequence[tf.Tensor | None]]
_NUMBERS = itertools.count()


def with_gradient(
    value: tf.Tensor,
    inputs: Sequence[tf.Tensor],
    gradient: GradientFunction,
    kept: Sequence[tf.Tensor] = (),
) -> tf.Tensor:
    """The value, with this gradient towards the inputs, and none towards anything else.

    The value and what the gradient needs beside the inputs, ``kept``, are computed where this is
    called. The gradient must refer to no tensor that it is not given.
    """
    if tf.executing_eagerly():  # where nothing is registered
        return tf.custom_gradient(
            lambda *same: (tf.identity(value), lambda upstream: gradient(upstream, *same, *kept))
        )(*inputs)
    graph = value.graph
    name = f"CustomGradient-uanet_tf-{next(_NUMBERS)}"
    # Whoever takes a gradient holds the graph.
    weak_graph: Any = weakref.ref(graph)
    names = [tensor.name for tensor in kept]
    place = ""

    @tf.RegisterGradient(name)
    def of_operation(operation: tf.Operation | None, upstream: tf.Tensor, *_: Any) -> Any:
        if operation is None:  # a SavedModel is being written
            operation = weak_graph().get_operation_by_name(place)
        again = [operation.graph.get_tensor_by_name(name) for name in names]
        return [None, *gradient(upstream, *operation.inputs[1:], *again)]

    tensors = [value, *inputs]
    with graph.gradient_override_map({"IdentityN": name}):
        same = tf.identity_n(tensors)
    place = same[0].op.name
    # A tape in the same graph does not look at the name of the operation's gradient.
    record.record_operation(
        name, same, tensors, lambda upstream, *_: [None, *gradient(upstream, *inputs, *kept)]
    )
    return same[0]
