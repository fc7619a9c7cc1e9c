"""A gradient that is written out, without ``tf.custom_gradient``'s hold on the graph.

TensorFlow keeps the function of every custom gradient for good, and that of ``tf.custom_gradient``
refers to the tensors of its graph, which would stay in memory for every model that was ever made.
The functions that are registered here know their graph only weakly. The graphs are the same.
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

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
