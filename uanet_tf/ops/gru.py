"""The recurrence of a GRU with a tied mask on its hidden state.

As in ``uanet_tf.ops.lstm`` the input projection is done beforehand, the loop holds one matmul
per step, and the gradient is written out. The reset gate acts on the recurrent product and not on
the state before it (``reset_after`` of Keras, and PyTorch's GRU), so that one product serves all
three gates. For bfloat16 inputs only the products are bfloat16, as there.
"""

import tensorflow as tf

from uanet_tf.ops.precision import masked, product, wide_dtype, widen
from uanet_tf.ops.time_blocks import scan_blocks
from uanet_tf.ops.tracing_choice import wants_blocks
from uanet_tf.ops.written_gradient import with_gradient

# At padding, where sigmoid(-1e4) is exactly 0: update and reset gates are closed, see below.
PADDING_SHIFT = -1e4


def close_padding(projected: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Makes every state at padding exactly 0, in either direction of time.

    There z = r = 0 and the candidate is tanh(0), whatever the state before. By selection: values
    at padding do not reach the result.

    Args:
      projected: [T, N, 3H], the projected inputs of ``gru_scan``.
      mask: [T, N] booleans, True = token.
    """
    closed = gru_padding_row(tf.zeros(projected.shape[-1:], projected.dtype))
    return tf.where(tf.expand_dims(mask, -1), projected, closed)


def gru_padding_row(bias: tf.Tensor) -> tf.Tensor:
    """Closes update and reset gates and makes the candidate tanh(0), so that the state stays 0."""
    width = bias.shape[0] // 3
    closed = tf.constant([PADDING_SHIFT] * (2 * width), bias.dtype)
    return tf.concat([closed, -bias[2 * width :]], axis=0)


def gru_step(
    projected: tf.Tensor, state: tf.Tensor, kernel: tf.Tensor, mask: tf.Tensor | None = None
) -> tf.Tensor:
    """Returns h_t [N, H] from x_t W + b [N, 3H] and h_{t-1} [N, H]; see ``gru_scan``.

    For decoders whose next input depends on this state.
    """
    recurrent = product(masked(state, mask), kernel)
    z, _, n, _ = _gates(widen(projected), recurrent, kernel.shape[0])
    return n + z * (state - n)


def gru_scan(
    projected: tf.Tensor,
    kernel: tf.Tensor,
    recurrent_mask: tf.Tensor | None = None,
    *,
    reverse: bool = False,
) -> tf.Tensor:
    """Runs a GRU over time; gates in the order z, r, n.

    With q = (h_{t-1} * mask) kernel and p = projected_t, from h = 0:
    z = sig(p_z + q_z), r = sig(p_r + q_r), n = tanh(p_n + r * q_n),
    h_t = z * h_{t-1} + (1 - z) * n.

    Args:
      projected: [T, N, 3H], x_t W + b; see ``close_padding`` for padding.
      kernel: [H, 3H] recurrent kernel.
      recurrent_mask: [N, H] (or [1, H]) mask on h_{t-1}, the same at each step, or None.
      reverse: run from the last step to the first.

    Returns:
      [T, N, H] hidden states, in the order of time.

    Reference:
      Cho et al., 2014, "Learning Phrase Representations using RNN Encoder-Decoder for
      Statistical Machine Translation".
    """
    if wants_blocks():
        return _scan_blocks(projected, kernel, recurrent_mask, reverse)
    return _scan_loop(projected, kernel, recurrent_mask, reverse)


def _scan_blocks(projected, kernel, mask, reverse) -> tf.Tensor:
    def step(now, state):
        h = gru_step(now[0], state[0], kernel, mask)
        return h, (h,)

    rows = projected.shape[1] or tf.shape(projected)[1]
    zeros = tf.zeros([rows, kernel.shape[0]], wide_dtype(projected.dtype))
    states, _ = scan_blocks(step, (projected,), (zeros,), zeros, reverse=reverse)
    return tf.cast(states, projected.dtype)


def _scan_loop(projected, kernel, mask, reverse) -> tf.Tensor:
    given = (projected, kernel) if mask is None else (projected, kernel, mask)
    inputs = [tf.convert_to_tensor(value) for value in given]
    states = _forward(reverse, *inputs)

    def gradient(upstream, *values):
        *inputs, states = values
        d_projected, d_kernel = _backward(reverse, upstream, states, *inputs)
        # The mask is a random draw, never learned.
        return (d_projected, d_kernel, None)[: len(inputs)]

    return with_gradient(tf.cast(states, inputs[0].dtype), inputs, gradient, [states])


def _gates(projected: tf.Tensor, recurrent: tf.Tensor, width: int) -> tuple[tf.Tensor, ...]:
    """Returns z, r, n and q_n."""
    sigmoids = tf.sigmoid(projected[..., : 2 * width] + recurrent[..., : 2 * width])
    z, r = tf.split(sigmoids, 2, axis=-1)
    candidate = recurrent[..., 2 * width :]
    return z, r, tf.tanh(projected[..., 2 * width :] + r * candidate), candidate


def _forward(reverse, projected, kernel, mask=None) -> tf.Tensor:
    """Returns the states, [T, N, H]."""
    steps, rows = tf.shape(projected)[0], tf.shape(projected)[1]
    shape = [projected.shape[1], kernel.shape[0]]
    wide = wide_dtype(projected.dtype)
    states = tf.TensorArray(wide, steps, element_shape=shape)
    zeros = tf.zeros([rows, kernel.shape[0]], wide)

    def step(t, h, states):
        now = steps - 1 - t if reverse else t
        h = gru_step(projected[now], h, kernel, mask)
        return t + 1, h, states.write(now, h)

    *_, states = tf.while_loop(
        lambda t, *_: t < steps,
        step,
        (0, zeros, states),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(shape), None),
    )
    return states.stack()


def _backward(reverse, upstream, states, projected, kernel, mask=None):
    """Back-propagation through time; returns gradients of ``projected`` and ``kernel``."""
    width = kernel.shape[0]
    steps = tf.shape(projected)[0]
    upstream = widen(upstream)
    before = _shift(states, reverse)
    seen = masked(before, mask)
    # z, r, n and q_n, [T, N, H] each
    z, r, n, candidate = _gates(widen(projected), product(seen, kernel), width)
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


def _shift(values: tf.Tensor, reverse: bool) -> tf.Tensor:
    """Values of the step before (in the direction of the scan), zeros at its start."""
    zeros = tf.zeros_like(values[:1])
    if reverse:
        return tf.concat([values[1:], zeros], axis=0)
    return tf.concat([zeros, values[:-1]], axis=0)
