"""The best path through a lattice with forbidden steps."""

import tensorflow as tf

from uanet_tf.ops.permute import permute
from uanet_tf.ops.time_blocks import scan_blocks
from uanet_tf.ops.tracing_choice import wants_blocks

# Finite, so that a lattice without any allowed path still has a best one; too large for any sum
# of scores to compensate.
FORBIDDEN = -1e9


def best_path(
    scores: tf.Tensor, mask: tf.Tensor | None, start: tf.Tensor, steps: tf.Tensor, end: tf.Tensor
) -> tf.Tensor:
    """Viterbi: the path with the largest sum of scores among the allowed ones.

    Args:
      scores: [N, T, C] floats, T at least 1.
      mask: [N, T] booleans, True = token, right-padded. None: no padding.
      start: [C] booleans, classes that a path may begin with.
      steps: [C, C] booleans, whether the second class may follow the first.
      end: [C] booleans, classes that a path may end with.

    Returns:
      [N, T] int32; at padding the last token's class.
    """
    start, steps, end = (tf.where(table, 0.0, FORBIDDEN) for table in (start, steps, end))
    path, _ = best_scored_path(scores, mask, start, steps, end)
    return path


def best_scored_path(
    scores: tf.Tensor, mask: tf.Tensor | None, start: tf.Tensor, steps: tf.Tensor, end: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Viterbi: the path with the largest sum of scores.

    Args:
      scores: [N, T, C] floats, T at least 1.
      mask: [N, T] booleans, True = token, right-padded. None: no padding.
      start: [C] floats, scores of the classes to begin with.
      steps: [C, C] floats, scores of the second class after the first.
      end: [C] floats, scores of the classes to end with.

    Returns:
      path [N, T] int32, at padding the last token's class; its sum [N]. The first of equals.
    """
    columns = permute(scores, [1, 0, 2])  # [T, N, C]
    inputs = [columns] if mask is None else [columns, tf.transpose(mask)]  # [T, N]
    same = tf.range(tf.shape(scores)[2])  # [C]
    length = tf.shape(scores)[1]

    def advance(now, total):
        """The best totals [N, C] of paths to this token, and where they come from."""
        column, *used = now
        through = tf.expand_dims(total, 2) + steps  # [N, C, C]
        best = tf.argmax(through, axis=1, output_type=tf.int32)  # [N, C]
        new = tf.reduce_max(through, axis=1) + column
        if not used:
            return best, new
        kept = tf.expand_dims(*used, 1)
        return tf.where(kept, best, same), tf.where(kept, new, total)

    if wants_blocks():
        return _best_path_blocks(advance, inputs, columns[0] + start, end)

    def forward(t, total, back):
        best, total = advance([part[t] for part in inputs], total)
        return t + 1, total, back.write(t, best)

    back = tf.TensorArray(tf.int32, length, element_shape=[None, scores.shape[2]])
    back = back.write(0, tf.zeros(tf.shape(scores)[0:3:2], tf.int32))
    _, total, back = tf.while_loop(lambda t, *_: t < length, forward, [1, columns[0] + start, back])
    total += end
    last = tf.argmax(total, axis=1, output_type=tf.int32)  # [N]

    def backward(t, state, path):
        return t - 1, tf.gather(back.read(t), state, batch_dims=1), path.write(t, state)

    path = tf.TensorArray(tf.int32, length, element_shape=[None])
    _, _, path = tf.while_loop(lambda t, *_: t >= 0, backward, [length - 1, last, path])
    return tf.transpose(path.stack()), tf.reduce_max(total, axis=1)  # [N, T], [N]


def _best_path_blocks(advance, inputs, total, end) -> tuple[tf.Tensor, tf.Tensor]:
    """The same for runtimes without arrays."""

    def forward(now, state):
        best, total = advance(now, *state)
        return best, (total,)

    def backward(back, state):
        state = tf.gather(*back, *state, batch_dims=1)
        return state, (state,)

    like = tf.zeros_like(total, tf.int32)
    back, (total,) = scan_blocks(forward, tuple(part[1:] for part in inputs), (total,), like)
    total += end
    last = tf.argmax(total, axis=1, output_type=tf.int32)  # [N]
    path, _ = scan_blocks(backward, (back,), (last,), last, reverse=True)
    path = tf.transpose(tf.concat([path, [last]], axis=0))  # [N, T]
    return path, tf.reduce_max(total, axis=1)
