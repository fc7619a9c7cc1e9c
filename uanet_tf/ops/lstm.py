"""The recurrence of an LSTM with a tied mask on its hidden state.

``tf.keras.layers.LSTM(recurrent_dropout=...)`` draws one mask per call and multiplies gate by
gate. Here the input projection is done beforehand in one matmul, the loop holds one matmul
per step, and the gradient is written out: the gates of all steps are computed again in one
large matmul, and so is the gradient of the recurrent kernel.

Inputs may be bfloat16: then the matmuls are, while gates, states and cells stay float32, since
a cell adds up over the whole sentence.
"""

import tensorflow as tf

from uanet_tf.ops.precision import masked, product, wide_dtype, widen
from uanet_tf.ops.time_blocks import scan_blocks
from uanet_tf.ops.tracing_choice import wants_blocks
from uanet_tf.ops.written_gradient import with_gradient

# Added to the input and forget gates at padding: sigmoid(-1e4) is exactly 0 in float32 and
# bfloat16, so the cell and the state stay 0 there, in either direction of time.
PADDING_SHIFT = -1e4


def lstm_scan(
    projected: tf.Tensor,
    kernel: tf.Tensor,
    recurrent_mask: tf.Tensor | None = None,
    *,
    reverse: bool = False,
) -> tf.Tensor:
    """Runs an LSTM over time; gates in the order i, f, o, g (Eq. 3).

    [i, f, o, g] = [sig, sig, sig, tanh](projected_t + (h_{t-1} * mask) kernel),
    c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), from h = c = 0.

    Args:
      projected: [T, N, 4H], x_t W + b; at padding the first 2H hold PADDING_SHIFT.
      kernel: [H, 4H] recurrent kernel.
      recurrent_mask: [N, H] (or [1, H]) mask on h_{t-1}, the same at each step, or None.
      reverse: run from the last step to the first.

    Returns:
      [T, N, H] hidden states, in the order of time, of the dtype of ``projected``.
    """
    if wants_blocks():
        return _scan_blocks(projected, kernel, recurrent_mask, reverse)
    return _scan_loop(projected, kernel, recurrent_mask, reverse)


def _scan_blocks(projected, kernel, mask, reverse) -> tf.Tensor:
    def step(now, state):
        h, c = _step(now[0], state[0], state[1], kernel, mask)
        return h, (h, c)

    rows = projected.shape[1] or tf.shape(projected)[1]
    zeros = tf.zeros([rows, kernel.shape[0]], wide_dtype(projected.dtype))
    states, _ = scan_blocks(step, (projected,), (zeros, zeros), zeros, reverse=reverse)
    return tf.cast(states, projected.dtype)


def _scan_loop(projected, kernel, mask, reverse) -> tf.Tensor:
    given = (projected, kernel) if mask is None else (projected, kernel, mask)
    inputs = [tf.convert_to_tensor(value) for value in given]
    states, cells = _forward(reverse, *inputs)

    def gradient(upstream, *values):
        *inputs, states, cells = values
        d_projected, d_kernel = _backward(reverse, upstream, states, cells, *inputs)
        # The mask is a random draw, never learned.
        return (d_projected, d_kernel, None)[: len(inputs)]

    return with_gradient(tf.cast(states, inputs[0].dtype), inputs, gradient, [states, cells])


def _gates(preactivation: tf.Tensor) -> tuple[tf.Tensor, ...]:
    if wants_blocks():  # for few numbers the start of an operation counts more than a copy
        width = preactivation.shape[-1] // 4
        sigmoids, tanh = tf.split(preactivation, [3 * width, width], axis=-1)
        return *tf.split(tf.sigmoid(sigmoids), 3, axis=-1), tf.tanh(tanh)
    # Split beforehand: fewer copies than slices for either function.
    i, f, o, g = tf.split(preactivation, 4, axis=-1)
    return tf.sigmoid(i), tf.sigmoid(f), tf.sigmoid(o), tf.tanh(g)


def _step(projected, h, c, kernel, mask) -> tuple[tf.Tensor, tf.Tensor]:
    """h_t and c_t, [N, H], from x_t W + b, [N, 4H], and those before."""
    i, f, o, g = _gates(product(masked(h, mask), kernel) + widen(projected))
    c = f * c + i * g
    return o * tf.tanh(c), c


def _forward(reverse, projected, kernel, mask=None) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns states and cells, both [T, N, H], in the wide dtype."""
    steps, rows = tf.shape(projected)[0], tf.shape(projected)[1]
    width = kernel.shape[0]
    shape = [projected.shape[1], width]
    wide = wide_dtype(projected.dtype)
    states = tf.TensorArray(wide, steps, element_shape=shape)
    cells = tf.TensorArray(wide, steps, element_shape=shape)
    zeros = tf.zeros([rows, width], wide)

    def step(t, h, c, states, cells):
        now = steps - 1 - t if reverse else t
        h, c = _step(projected[now], h, c, kernel, mask)
        return t + 1, h, c, states.write(now, h), cells.write(now, c)

    _, _, _, states, cells = tf.while_loop(
        lambda t, *_: t < steps,
        step,
        (0, zeros, zeros, states, cells),
        shape_invariants=(
            tf.TensorShape([]),
            tf.TensorShape(shape),
            tf.TensorShape(shape),
            None,
            None,
        ),
    )
    return states.stack(), cells.stack()


def _backward(reverse, upstream, states, cells, projected, kernel, mask=None):
    """Back-propagation through time; returns gradients of ``projected`` and ``kernel``."""
    width = kernel.shape[0]
    steps = tf.shape(projected)[0]
    upstream = widen(upstream)
    before_h, before_c = _shift(states, reverse), _shift(cells, reverse)
    seen = masked(before_h, mask)
    i, f, o, g = _gates(product(seen, kernel) + widen(projected))  # [T, N, H] each
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
