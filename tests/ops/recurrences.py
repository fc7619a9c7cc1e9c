"""The LSTM and the GRU written out: in plain NumPy, and unrolled for automatic gradients."""

import numpy as np
import tensorflow as tf

from uanet_tf.ops.recurrence import GRU, LSTM


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def loop_lstm(projected, kernel, mask, reverse):
    """Eq. 3 of Gui et al. (2020), one row, one step and one unit at a time."""
    steps, rows, _ = projected.shape
    width = kernel.shape[0]
    states = np.zeros([steps, rows, width])
    for row in range(rows):
        h, c = np.zeros(width), np.zeros(width)
        for t in reversed(range(steps)) if reverse else range(steps):
            seen = [h[k] * (1.0 if mask is None else mask[row, k]) for k in range(width)]
            new_h, new_c = np.zeros(width), np.zeros(width)
            for unit in range(width):
                i, f, o, g = (
                    projected[t, row, gate * width + unit]
                    + sum(seen[k] * kernel[k, gate * width + unit] for k in range(width))
                    for gate in range(4)
                )
                new_c[unit] = sigmoid(f) * c[unit] + sigmoid(i) * np.tanh(g)
                new_h[unit] = sigmoid(o) * np.tanh(new_c[unit])
            h, c = new_h, new_c
            states[t, row] = h
    return states


def naive_lstm(projected, kernel, mask, reverse):
    """The same in TensorFlow, unrolled, for its automatic gradient."""
    h = c = tf.zeros_like(projected[0, :, : kernel.shape[0]])
    states = {}
    for t in reversed(range(projected.shape[0])) if reverse else range(projected.shape[0]):
        seen = h if mask is None else h * mask
        i, f, o, g = tf.split(projected[t] + tf.matmul(seen, kernel), 4, axis=-1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        states[t] = h
    return tf.stack([states[t] for t in sorted(states)])


def loop_gru(projected, kernel, mask, reverse):
    """One row, one step and one unit at a time."""
    steps, rows, _ = projected.shape
    width = kernel.shape[0]
    states = np.zeros([steps, rows, width])
    for row in range(rows):
        h = np.zeros(width)
        for t in reversed(range(steps)) if reverse else range(steps):
            seen = [h[k] * (1.0 if mask is None else mask[row, k]) for k in range(width)]
            new_h = np.zeros(width)
            for unit in range(width):
                q = [
                    sum(seen[k] * kernel[k, gate * width + unit] for k in range(width))
                    for gate in range(3)
                ]
                p = [projected[t, row, gate * width + unit] for gate in range(3)]
                z, r = sigmoid(p[0] + q[0]), sigmoid(p[1] + q[1])
                new_h[unit] = z * h[unit] + (1 - z) * np.tanh(p[2] + r * q[2])
            h = new_h
            states[t, row] = h
    return states


def naive_gru(projected, kernel, mask, reverse):
    """The same in TensorFlow, unrolled, for its automatic gradient."""
    h = tf.zeros_like(projected[0, :, : kernel.shape[0]])
    states = {}
    for t in reversed(range(projected.shape[0])) if reverse else range(projected.shape[0]):
        q = tf.split(tf.matmul(h if mask is None else h * mask, kernel), 3, axis=-1)
        p = tf.split(projected[t], 3, axis=-1)
        z, r = tf.sigmoid(p[0] + q[0]), tf.sigmoid(p[1] + q[1])
        h = z * h + (1 - z) * tf.tanh(p[2] + r * q[2])
        states[t] = h
    return tf.stack([states[t] for t in sorted(states)])


LOOPS = {LSTM: loop_lstm, GRU: loop_gru}
UNROLLED = {LSTM: naive_lstm, GRU: naive_gru}
