"""Loops over time for runtimes that copy all tensors of a loop at each step.

TensorFlow Lite copies all that a loop reads or carries, the whole sequence included, at every
step, and has no array that is written in place: a plain loop costs the square of the length.
Here an outer loop cuts the sequence into blocks and an inner one runs over a block, so that
only a block is copied at each step. A step gives tensors of the sizes that it gets, so that the
runtime plans its memory once for a block. Within TensorFlow plain loops are faster.
"""

from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.shapes import sizes

# Steps of a block: of several rows, and of one, of which less is copied.
BLOCK, BLOCK_OF_ONE = 16, 24

Tensors = tuple[tf.Tensor, ...]
# (inputs at t, state) -> (output, new state)
Step = Callable[[Tensors, Tensors], tuple[tf.Tensor, Tensors]]


def scan_blocks(
    step: Step, inputs: Tensors, state: Tensors, like: tf.Tensor, *, reverse: bool = False
) -> tuple[tf.Tensor, Tensors]:
    """Runs ``step`` along the first axis of the inputs; for inference only.

    Args:
      step: maps (the inputs at t, state) to (output, new state).
      inputs: [T, ...] each.
      state: what the first step reads.
      like: any tensor of an output's shape and dtype, [N, ...].
      reverse: run from the last step to the first.

    Returns: The outputs [T, N, ...], in the order of time, and the last state.
    """
    length = tf.shape(inputs[0])[0]
    rows, *widths = sizes(like)
    most = BLOCK_OF_ONE if like.shape[0] == 1 else BLOCK

    def run_block(done, state, outputs):
        size = tf.minimum(most, length - done)
        start = length - done - size if reverse else done
        block = [part[start : start + size] for part in inputs]

        def run_step(t, state, outputs):
            output, state = step(tuple(tf.gather(part, t) for part in block), state)
            # Outputs move up, so that their number stays the same.
            kept = outputs[:-rows] if reverse else outputs[rows:]
            return t - 1 if reverse else t + 1, state, _join(kept, output, reverse)

        empty = tf.zeros([size * rows, *widths], like.dtype)
        first = size - 1 if reverse else 0
        goes_on = (lambda t: t >= 0) if reverse else (lambda t: t < size)
        _, state, made = _loop(goes_on, run_step, (first, state, empty))
        return done + size, state, _join(outputs, made, reverse)

    none = tf.zeros([0, *widths], like.dtype)
    _, state, outputs = _loop(lambda done: done < length, run_block, (0, state, none))
    return tf.reshape(outputs, [-1, rows, *widths]), state


def _loop(goes_on: Callable[[tf.Tensor], tf.Tensor], body: Callable, start: tuple) -> tuple:
    """Calls ``body`` on (count, state, outputs) while the count says so."""
    _, state, outputs = start
    grown = tf.TensorShape([None, *outputs.shape[1:]])
    return tf.while_loop(
        lambda count, *_: goes_on(count),
        body,
        start,
        shape_invariants=(tf.TensorShape([]), tuple(part.shape for part in state), grown),
    )


def _join(earlier: tf.Tensor, later: tf.Tensor, reverse: bool) -> tf.Tensor:
    return tf.concat([later, earlier] if reverse else [earlier, later], axis=0)
