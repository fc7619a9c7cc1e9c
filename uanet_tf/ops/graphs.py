"""How graphs are made: without AutoGraph, lazily, and with written-out gradients."""

import contextlib
import contextvars
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record


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


class TracingChoice:
    """A choice for all functions that are traced within a context; outside it does not hold.

    Args:
      name: of the choice, for debuggers.

    Example:

    >>> in_blocks = TracingChoice("in blocks")
    >>> with in_blocks():
    ...     in_blocks.holds()
    True
    """

    def __init__(self, name: str):
        self._value = contextvars.ContextVar[int](name, default=False)

    @contextlib.contextmanager
    def __call__(self, wanted: int = True) -> Iterator[None]:
        """Within this context the choice holds, or, where ``wanted`` is False or 0, does not."""
        token = self._value.set(wanted)
        try:
            yield
        finally:
            self._value.reset(token)

    def holds(self) -> bool:
        """Whether this is within the context."""
        return bool(self._value.get())

    def value(self) -> int:
        """The number that the context was given; 0 outside."""
        return self._value.get()


# Recurrences run with ``scan_blocks``.
loops_in_blocks = TracingChoice("loops in blocks")
wants_blocks = loops_in_blocks.holds
# A sentence is read by itself, without padding, each of its tokens for itself: what padding or
# equal tokens would need is left out of the graph.
unpadded = TracingChoice("no padding")
# An LSTM of one sentence is run by ``fused_lstm``.
fused_lstms = TracingChoice("fused LSTMs")
wants_fused = fused_lstms.holds
# Within ``position_tables(longest)`` the keys of sentences of up to so many tokens are read
# from a table. In longer ones the largest distances count as the largest of the table.
position_tables = TracingChoice("position tables")


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

    Args:
      value: computed from the inputs, where this is called.
      inputs: tensors.
      gradient: must refer to no tensor that it is not given.
      kept: what the gradient needs beside them, computed where this is called.
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
