"""An LSTM of one sentence as one operation of TensorFlow Lite."""

import tensorflow as tf

from uanet_tf.ops.graph_function import graph_function
from uanet_tf.ops.linear import linear
from uanet_tf.ops.lstm import lstm_scan

# By these the converter knows an LSTM of Keras, which it replaces by UNIDIRECTIONAL_SEQUENCE_LSTM.
_MARKS = {
    "api_implements": "lstm_of_a_sentence",
    "api_preferred_device": "CPU",
    "time_major": True,
    "go_backwards": False,
}
# Times a weight it closes a gate.
_RESET = 1e4


def fused_lstm(
    inputs: tf.Tensor,
    kernel: tf.Tensor,
    recurrent_kernel: tf.Tensor,
    bias: tf.Tensor,
    *,
    reverse: bool = False,
) -> tf.Tensor:
    """As ``lstm_scan``, for a graph that is to be converted; cells then end at -10 and 10.

    The operation keeps its state from one call to the next. So a step comes first that closes the
    input and the forget gates, by an input that is 0 at all other steps. Its weights are as
    large as the largest of the kernel: a quantised one loses no digit by them.

    Args:
      inputs: [T, 1, D], float32 as all others.
      kernel: [D, 4H], gates in the order i, f, o, g.
      recurrent_kernel: [H, 4H].
      bias: [4H].
      reverse: run from the last step to the first.

    Returns:
      [T, 1, H] hidden states, in the order of time.
    """
    units = recurrent_kernel.shape[0]
    closing = -tf.reduce_max(tf.abs(kernel)) * tf.constant([[1.0] * 2 * units + [0.0] * 2 * units])
    kernel = tf.concat([kernel, closing], axis=0)
    steps = tf.reverse(inputs, [0]) if reverse else inputs
    reset = tf.constant([[[0.0] * inputs.shape[-1] + [_RESET]]])
    steps = tf.concat([reset, tf.pad(steps, [[0, 0], [0, 0], [0, 1]])], axis=0)
    weights = [_other_order(part) for part in (kernel, recurrent_kernel, bias)]
    zeros = tf.zeros([1, units])
    marked = graph_function(attributes=_MARKS)(_as_keras_does)
    states = marked(steps, zeros, zeros, *weights)[1][1:]
    return tf.reverse(states, [0]) if reverse else states


def _as_keras_does(inputs, state, cell, kernel, recurrent_kernel, bias):
    """Arguments and results as the converter expects them; what is between it replaces.

    Where it did not, as those of a future version, the model would still be right.

    Returns:
      The last output, all outputs [T, 1, H], the last state and cell (never read), and a number
      without meaning.
    """
    kernel, recurrent_kernel, bias = (
        _other_order(part) for part in (kernel, recurrent_kernel, bias)
    )
    outputs = lstm_scan(linear(inputs, kernel, bias), recurrent_kernel)
    return outputs[-1], outputs, state, cell, tf.zeros([])


def _other_order(weights: tf.Tensor) -> tf.Tensor:
    """From gates in the order i, f, o, g to Keras' i, f, g, o, and back."""
    i, f, third, fourth = tf.split(weights, 4, axis=-1)
    return tf.concat([i, f, fourth, third], axis=-1)
