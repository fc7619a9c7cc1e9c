"""Recurrences with a tied mask on their hidden state: LSTM and GRU.

``tf.keras.layers.LSTM(recurrent_dropout=...)`` draws one mask per call and multiplies gate by
gate. Here the input projection is done beforehand in one matmul, the loop holds one matmul
per step, and the gradient is written out: the gates of all steps are computed again in one
large matmul, and so is the gradient of the recurrent kernel.

Inputs may be bfloat16: then the matmuls are, while gates, states and cells stay float32, since
a cell adds up over the whole sentence.
"""

import dataclasses
import functools
from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.graphs import LiteGraph, graph_function, with_gradient
from uanet_tf.ops.loops import scan_blocks
from uanet_tf.ops.numerics import linear, masked, product, wide_dtype, widen


def block_orthogonal(shape, dtype=None, **_) -> tf.Tensor:
    """An orthogonal [H, H] block for each gate of a recurrent kernel [H, gates * H].

    They are drawn from the global seed.
    """
    # One initializer per block: an instance without a seed gives the same values each time.
    blocks = [
        tf.keras.initializers.Orthogonal()([shape[0], shape[0]], dtype=dtype)
        for _ in range(shape[1] // shape[0])
    ]
    return tf.concat(blocks, axis=-1)


def forget_one(shape, dtype=None, **_) -> tf.Tensor:
    """Zeros [4H], but ones for the forget gate, so that an LSTM remembers from the start.

    Reference: Jozefowicz et al., 2015, "An Empirical Exploration of Recurrent Network
      Architectures".
    """
    units = shape[0] // 4
    zeros, ones = tf.zeros([units], dtype), tf.ones([units], dtype)
    return tf.concat([zeros, ones, zeros, zeros], axis=0)


# Added to gates at padding, to close them: sigmoid(-1e4) is exactly 0 in float32 and bfloat16, so
# the state stays 0 there, in either direction of time.
PADDING_SHIFT = -1e4


def lstm_scan(
    projected: tf.Tensor,
    kernel: tf.Tensor,
    recurrent_mask: tf.Tensor | None = None,
    *,
    reverse: bool = False,
    lite: LiteGraph | None = None,
) -> tf.Tensor:
    """Runs an LSTM over time; gates in the order i, f, o, g (Eq. 3).

    [i, f, o, g] = [sig, sig, sig, tanh](projected_t + (h_{t-1} * mask) kernel),
    c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), from h = c = 0.

    Args:
      projected: [T, N, 4H], x_t W + b; at padding the first 2H hold PADDING_SHIFT.
      kernel: [H, 4H] recurrent kernel.
      recurrent_mask: [N, H] (or [1, H]) mask on h_{t-1}, the same at each step, or None.
      reverse: run from the last step to the first.

    Returns: [T, N, H] hidden states, in the order of time, of the dtype of ``projected``.
    """
    if lite is not None:
        step = functools.partial(_lstm_step, gates=_few_lstm_gates)
        return _in_blocks(step, 2, projected, kernel, recurrent_mask, reverse)
    return _scan(_lstm_step, _lstm_backward, 2, projected, kernel, recurrent_mask, reverse)


# From x_t W + b [N, G H], the states [N, H] before, the kernel and the mask to the states.
Step = Callable[..., tuple[tf.Tensor, ...]]


def _in_blocks(step: Step, count: int, projected, kernel, mask, reverse) -> tf.Tensor:
    """As ``_scan``, without a gradient, for TensorFlow Lite."""

    def run(now, state):
        state = step(now[0], state, kernel, mask)
        return state[0], state

    rows = projected.shape[1] or tf.shape(projected)[1]
    zeros = tf.zeros([rows, kernel.shape[0]], wide_dtype(projected.dtype))
    states, _ = scan_blocks(run, (projected,), (zeros,) * count, zeros, reverse=reverse)
    return tf.cast(states, projected.dtype)


def _scan(step: Step, backward, count: int, projected, kernel, mask, reverse) -> tf.Tensor:
    """The first of ``count`` states that a recurrence carries, [T, N, H].

    ``backward`` gives the gradients of ``projected`` and ``kernel``, from ``reverse``, the gradient
    of the result, the states, [T, N, H] each, and the inputs.
    """
    given = (projected, kernel) if mask is None else (projected, kernel, mask)
    inputs = [tf.convert_to_tensor(value) for value in given]
    states = _forward(step, count, reverse, *inputs)
    number = len(inputs)  # the gradient, which outlives its graph, holds none of its tensors

    def gradient(upstream, *values):
        inputs, states = values[:number], values[number:]
        # The mask is a random draw, never learned.
        return (*backward(reverse, upstream, *states, *inputs), None)[:number]

    return with_gradient(tf.cast(states[0], inputs[0].dtype), inputs, gradient, states)


def _forward(step: Step, count: int, reverse, projected, kernel, mask=None) -> list[tf.Tensor]:
    """The states [T, N, H], in the wide dtype."""
    steps, rows = tf.shape(projected)[0], tf.shape(projected)[1]
    shape = [projected.shape[1], kernel.shape[0]]
    wide = wide_dtype(projected.dtype)
    arrays = [tf.TensorArray(wide, steps, element_shape=shape) for _ in range(count)]
    zeros = tf.zeros([rows, kernel.shape[0]], wide)

    def advance(t, *carried):
        now = steps - 1 - t if reverse else t
        state = step(projected[now], carried[:count], kernel, mask)
        pairs = zip(carried[count:], state, strict=True)
        return (t + 1, *state, *(array.write(now, values) for array, values in pairs))

    _, *carried = tf.while_loop(
        lambda t, *_: t < steps,
        advance,
        (0, *[zeros] * count, *arrays),
        shape_invariants=(tf.TensorShape([]), *[tf.TensorShape(shape)] * count, *[None] * count),
    )
    return [array.stack() for array in carried[count:]]


def _lstm_gates(preactivation: tf.Tensor) -> tuple[tf.Tensor, ...]:
    # Split beforehand: fewer copies than slices for either function.
    i, f, o, g = tf.split(preactivation, 4, axis=-1)
    return tf.sigmoid(i), tf.sigmoid(f), tf.sigmoid(o), tf.tanh(g)


def _few_lstm_gates(preactivation: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """The same of few numbers, where the start of an operation counts more than a copy."""
    width = preactivation.shape[-1] // 4
    sigmoids, tanh = tf.split(preactivation, [3 * width, width], axis=-1)
    return *tf.split(tf.sigmoid(sigmoids), 3, axis=-1), tf.tanh(tanh)


def _lstm_step(projected, state, kernel, mask, gates=_lstm_gates) -> tuple[tf.Tensor, ...]:
    """h_t and c_t, [N, H], from x_t W + b, [N, 4H], and those before."""
    h, c = state
    i, f, o, g = gates(product(masked(h, mask), kernel) + widen(projected))
    c = f * c + i * g
    return o * tf.tanh(c), c


def _lstm_backward(reverse, upstream, states, cells, projected, kernel, mask=None):
    """Back-propagation through time; returns gradients of ``projected`` and ``kernel``."""
    width = kernel.shape[0]
    steps = tf.shape(projected)[0]
    upstream = widen(upstream)
    before_h, before_c = _shift(states, reverse), _shift(cells, reverse)
    seen = masked(before_h, mask)
    i, f, o, g = _lstm_gates(product(seen, kernel) + widen(projected))  # [T, N, H] each
    tanh_c = tf.tanh(cells)
    # Factors that do not depend on the recursion, for all steps at once.
    to_cell = o * (1.0 - tanh_c * tanh_c)
    to_out = tanh_c * o * (1.0 - o)
    to_gates = tf.concat(
        [g * i * (1.0 - i), before_c * f * (1.0 - f), i * (1.0 - g * g)], axis=-1
    )  # [T, N, 3H]: d pre-activation of i, f, g per unit of dc
    deltas = tf.TensorArray(states.dtype, steps, element_shape=[projected.shape[1], 4 * width])
    zeros = tf.zeros_like(states[0])

    def step(t, dh, dc, deltas):
        now = t if reverse else steps - 1 - t
        dh = dh + upstream[now]
        dc = dc + dh * to_cell[now]
        factors = to_gates[now]
        delta = tf.concat(
            [
                dc * factors[:, :width],
                dc * factors[:, width : 2 * width],
                dh * to_out[now],
                dc * factors[:, 2 * width :],
            ],
            axis=-1,
        )  # [N, 4H]
        dh = masked(product(delta, kernel, transpose=True), mask)
        return t + 1, dh, dc * f[now], deltas.write(now, delta)

    *_, deltas = tf.while_loop(lambda t, *_: t < steps, step, (0, zeros, zeros, deltas))
    d_projected = tf.cast(deltas.stack(), projected.dtype)  # [T, N, 4H]
    flat = tf.cast(tf.reshape(tf.broadcast_to(seen, tf.shape(states)), [-1, width]), kernel.dtype)
    d_kernel = tf.matmul(flat, tf.reshape(d_projected, [-1, 4 * width]), transpose_a=True)
    return d_projected, d_kernel


def _shift(values: tf.Tensor, reverse: bool) -> tf.Tensor:
    """Values of the step before (in the direction of the scan), zeros at its start."""
    zeros = tf.zeros_like(values[:1])
    if reverse:
        return tf.concat([values[1:], zeros], axis=0)
    return tf.concat([zeros, values[:-1]], axis=0)


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

    From [T, 1, D] float32 inputs the [T, 1, H] hidden states, in the order of time; the weights are
    [D, 4H], [H, 4H] and [4H], gates in the order i, f, o, g.

    The operation keeps its state from one call to the next. So a step comes first that closes the
    input and the forget gates, by an input that is 0 at all other steps. Its weights are as large
    as the largest of the kernel: a quantised one loses no digit by them.
    """
    units = recurrent_kernel.shape[0]
    closing = -tf.reduce_max(tf.abs(kernel)) * tf.constant([[1.0] * 2 * units + [0.0] * 2 * units])
    kernel = tf.concat([kernel, closing], axis=0)
    steps = tf.reverse(inputs, [0]) if reverse else inputs
    reset = tf.constant([[[0.0] * inputs.shape[-1] + [_RESET]]])
    steps = tf.concat([reset, tf.pad(steps, [[0, 0], [0, 0], [0, 1]])], axis=0)
    weights = [keras_order(part) for part in (kernel, recurrent_kernel, bias)]
    zeros = tf.zeros([1, units])
    marked = graph_function(attributes=_MARKS)(_as_keras_does)
    states = marked(steps, zeros, zeros, *weights)[1][1:]
    return tf.reverse(states, [0]) if reverse else states


def _as_keras_does(inputs, state, cell, kernel, recurrent_kernel, bias):
    """Arguments and results as the converter expects them; what is between it replaces.

    Where it did not, as those of a future version, the model would still be right. The last state
    and cell are never read, and the last number has no meaning.
    """
    kernel, recurrent_kernel, bias = map(keras_order, (kernel, recurrent_kernel, bias))
    outputs = lstm_scan(linear(inputs, kernel, bias), recurrent_kernel)
    return outputs[-1], outputs, state, cell, tf.zeros([])  # all outputs are [T, 1, H]


def keras_order(weights: tf.Tensor) -> tf.Tensor:
    """From gates in the order i, f, o, g to Keras' i, f, g, o, and back."""
    i, f, third, fourth = tf.split(weights, 4, axis=-1)
    return tf.concat([i, f, fourth, third], axis=-1)


def close_padding(projected: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Makes every state at padding exactly 0, in either direction of time.

    There z = r = 0 and the candidate is tanh(0), whatever the state before. By selection: values at
    padding do not reach the result. ``projected`` [T, N, 3H] are the inputs of ``gru_scan``, the
    mask is [T, N] booleans, True = token.
    """
    closed = gru_padding_row(tf.zeros(projected.shape[-1:], projected.dtype))
    return tf.where(tf.expand_dims(mask, -1), projected, closed)


def gru_padding_row(bias: tf.Tensor) -> tf.Tensor:
    """Closes update and reset gates and makes the candidate tanh(0), so that the state stays 0."""
    width = bias.shape[0] // 3
    closed = tf.constant([PADDING_SHIFT] * (2 * width), bias.dtype)
    return tf.concat([closed, -bias[2 * width :]], axis=0)


def _gru_step(projected, state, kernel, mask) -> tuple[tf.Tensor, ...]:
    return (gru_step(projected, state[0], kernel, mask),)


def gru_step(
    projected: tf.Tensor, state: tf.Tensor, kernel: tf.Tensor, mask: tf.Tensor | None = None
) -> tf.Tensor:
    """Returns h_t [N, H] from x_t W + b [N, 3H] and h_{t-1} [N, H]; see ``gru_scan``.

    For decoders whose next input depends on this state.
    """
    recurrent = product(masked(state, mask), kernel)
    z, _, n, _ = _gru_gates(widen(projected), recurrent, kernel.shape[0])
    return n + z * (state - n)


def gru_scan(
    projected: tf.Tensor,
    kernel: tf.Tensor,
    recurrent_mask: tf.Tensor | None = None,
    *,
    reverse: bool = False,
    lite: LiteGraph | None = None,
) -> tf.Tensor:
    """Runs a GRU over time; gates in the order z, r, n.

    With q = (h_{t-1} * mask) kernel and p = projected_t, from h = 0:
    z = sig(p_z + q_z), r = sig(p_r + q_r), n = tanh(p_n + r * q_n),
    h_t = z * h_{t-1} + (1 - z) * n. The reset gate acts on the recurrent product and not on the
    state before it (``reset_after`` of Keras, and PyTorch's GRU): one product serves three gates.

    Args:
      projected: [T, N, 3H], x_t W + b; see ``close_padding`` for padding.
      kernel: [H, 3H] recurrent kernel.
      recurrent_mask: [N, H] (or [1, H]) mask on h_{t-1}, the same at each step, or None.
      reverse: run from the last step to the first.

    Returns: [T, N, H] hidden states, in the order of time.
    Reference: Cho et al., 2014, "Learning Phrase Representations using RNN Encoder-Decoder for
      Statistical Machine Translation".
    """
    if lite is not None:
        return _in_blocks(_gru_step, 1, projected, kernel, recurrent_mask, reverse)
    return _scan(_gru_step, _gru_backward, 1, projected, kernel, recurrent_mask, reverse)


def _gru_gates(projected: tf.Tensor, recurrent: tf.Tensor, width: int) -> tuple[tf.Tensor, ...]:
    """Returns z, r, n and q_n."""
    sigmoids = tf.sigmoid(projected[..., : 2 * width] + recurrent[..., : 2 * width])
    z, r = tf.split(sigmoids, 2, axis=-1)
    candidate = recurrent[..., 2 * width :]
    return z, r, tf.tanh(projected[..., 2 * width :] + r * candidate), candidate


def _gru_backward(reverse, upstream, states, projected, kernel, mask=None):
    """Back-propagation through time; returns gradients of ``projected`` and ``kernel``."""
    width = kernel.shape[0]
    steps = tf.shape(projected)[0]
    upstream = widen(upstream)
    before = _shift(states, reverse)
    seen = masked(before, mask)
    # z, r, n and q_n, [T, N, H] each
    z, r, n, candidate = _gru_gates(widen(projected), product(seen, kernel), width)
    # d pre-activation of z, r, n, and d q_n, per unit of dh.
    to_z = (before - n) * z * (1.0 - z)
    to_n = (1.0 - z) * (1.0 - n * n)
    to_r = to_n * candidate * r * (1.0 - r)
    factors = tf.concat([to_z, to_r, to_n * r], axis=-1)  # [T, N, 3H]
    gradients = tf.TensorArray(states.dtype, steps, element_shape=[projected.shape[1], width])

    def step(t, dh, gradients):
        now = t if reverse else steps - 1 - t
        dh = dh + upstream[now]
        gradients = gradients.write(now, dh)
        through = product(tf.tile(dh, [1, 3]) * factors[now], kernel, transpose=True)
        through = masked(through, mask)
        return t + 1, dh * z[now] + through, gradients

    zeros = tf.zeros_like(states[0])
    *_, gradients = tf.while_loop(lambda t, *_: t < steps, step, (0, zeros, gradients))
    dh = gradients.stack()  # [T, N, H]
    d_projected = tf.concat([dh * to_z, dh * to_r, dh * to_n], axis=-1)  # [T, N, 3H]
    d_recurrent = tf.tile(dh, [1, 1, 3]) * factors  # [T, N, 3H]
    d_kernel = tf.matmul(
        tf.cast(tf.reshape(seen, [-1, width]), kernel.dtype),
        tf.cast(tf.reshape(d_recurrent, [-1, 3 * width]), kernel.dtype),
        transpose_a=True,
    )
    return tf.cast(d_projected, projected.dtype), d_kernel


@dataclasses.dataclass(frozen=True)
class Cell:
    """A recurrence: ``LSTM`` or ``GRU``.

    Attributes:
      gates: G, the number of blocks side by side in a kernel [H, G H].
      scan: the recurrence, from projected inputs [T, N, G H] to states [T, N, H].
      padding_row: given the bias [G H], what is added to it at padding, so that the state there is
        exactly 0.
      first_bias: initializer of the bias [G H].
    """

    gates: int
    scan: Callable[..., tf.Tensor]
    padding_row: Callable[[tf.Tensor], tf.Tensor]
    first_bias: str | Callable[..., tf.Tensor]


def lstm_padding_row(bias: tf.Tensor) -> tf.Tensor:
    """Closes the input and forget gates, so that cell and state stay 0."""
    half = bias.shape[0] // 2
    return tf.constant([PADDING_SHIFT] * half + [0.0] * half, bias.dtype)


LSTM = Cell(4, lstm_scan, lstm_padding_row, forget_one)
GRU = Cell(3, gru_scan, gru_padding_row, "zeros")
