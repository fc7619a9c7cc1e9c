"""Loops over time for runtimes that copy all tensors of a loop at each step.

TensorFlow Lite copies all that a loop reads or carries, the whole sequence included, at every
step, and has no array that is written in place: a plain loop costs the square of the length.
Here an outer loop cuts the sequence into blocks and an inner one runs over a block, so that
only a block is copied at each step. A step gives tensors of the sizes that it gets, so that the
runtime plans its memory once for a block. Within TensorFlow plain loops are faster.
"""

from collections.abc import Callable

import tensorflow as tf

from uanet_tf.ops.tracing_choice import TracingChoice

BLOCK = 16

# Functions traced within ``loops_in_blocks()`` run their recurrences with ``scan_blocks``.
loops_in_blocks = TracingChoice("loops in blocks")
wants_blocks = loops_in_blocks.holds

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
      like: any tensor of an output's shape and dtype.
      reverse: run from the last step to the first.

    Returns:
      The outputs [T, ...], in the order of time, and the last state.
    """
    length = tf.shape(inputs[0])[0]
    none = tf.expand_dims(tf.zeros_like(like), 0)[:0]

    def run_block(done, state, outputs):
        size = tf.minimum(BLOCK, length - done)
        start = length - done - size if reverse else done
        block = [part[start : start + size] for part in inputs]

        def run_step(count, state, outputs):
            t = size - 1 - count if reverse else count
            output, state = step(tuple(tf.gather(part, t) for part in block), state)
            # Outputs move up, so that their number stays the same.
            kept = outputs[:-1] if reverse else outputs[1:]
            return count + 1, state, _join(kept, tf.expand_dims(output, 0), reverse)

        empty = tf.repeat(tf.expand_dims(tf.zeros_like(like), 0), size, axis=0)
        _, state, made = _loop(size, run_step, (0, state, empty))
        return done + size, state, _join(outputs, made, reverse)

    _, state, outputs = _loop(length, run_block, (0, state, none))
    return outputs, state


def _loop(end: tf.Tensor, body: Callable, start: tuple) -> tuple:
    """Calls ``body`` on (count, state, outputs) until the count reaches ``end``."""
    _, state, outputs = start
    grown = tf.TensorShape([None, *outputs.shape[1:]])
    return tf.while_loop(
        lambda count, *_: count < end,
        body,
        start,
        shape_invariants=(tf.TensorShape([]), tuple(part.shape for part in state), grown),
    )


def _join(earlier: tf.Tensor, later: tf.Tensor, reverse: bool) -> tf.Tensor:
    return tf.concat([later, earlier] if reverse else [earlier, later], axis=0)
