"""Sequences of labels: the best one, likelihoods and marginals, spans, chunks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from uanet_tf.ops.graphs import LiteGraph
from uanet_tf.ops.loops import scan_blocks
from uanet_tf.ops.masking import keep
from uanet_tf.ops.shapes import permute

# Finite, so that a lattice without allowed paths has a best one; no sum of scores makes up for it.
FORBIDDEN = -1e9


def best_path(
    scores: tf.Tensor,
    mask: tf.Tensor | None,
    start: tf.Tensor,
    steps: tf.Tensor,
    end: tf.Tensor,
    lite: LiteGraph | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Viterbi: the path with the largest sum of scores.

    Args:
      scores: [N, T, C] floats, T at least 1.
      mask: [N, T] booleans, True = token, right-padded. None: no padding.
      start: [C] floats, scores of the classes to begin with; or booleans, which are allowed.
      steps: [C, C], the same of the second class after the first.
      end: [C], of the classes to end with.

    Returns: path [N, T] int32, at padding the last token's class; its sum [N]. The first of equals.
    """
    start, steps, end = (
        tf.where(table, 0.0, FORBIDDEN) if table.dtype == bool else table
        for table in (start, steps, end)
    )
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

    if lite is not None:
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


def crf_log_likelihood(
    inputs: tf.Tensor,
    tag_indices: tf.Tensor,
    sequence_lengths: tf.Tensor,
    transition_params: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Log probability of given label sequences among all sequences of their length.

    Args:
      inputs: [N, T, C] floats, scores of labels at tokens; ignored at padding.
      tag_indices, sequence_lengths: [N, T] and [N] integers, the sequences.
      transition_params: [C, C] floats, from the row's label to the column's.

    Returns: [N] nats, 0 for a sentence without tokens; and the transitions, as given.
    Reference: Lafferty et al., 2001, "Conditional Random Fields".
    """
    mask = tf.sequence_mask(sequence_lengths, tf.shape(inputs)[1])  # [N, T]
    scores = tf.where(tf.expand_dims(mask, -1), inputs, tf.zeros([], inputs.dtype))
    transitions = tf.cast(transition_params, scores.dtype)
    labels = tf.where(mask, tf.cast(tag_indices, tf.int32), 0)
    single = tf.gather(scores, labels, axis=2, batch_dims=2)  # [N, T], 0 at padding
    pairs = tf.gather_nd(transitions, tf.stack([labels[:, :-1], labels[:, 1:]], axis=-1))
    pairs = tf.where(mask[:, 1:], pairs, tf.zeros_like(pairs))  # [N, T - 1]
    given = tf.reduce_sum(single, axis=1) + tf.reduce_sum(pairs, axis=1)
    likelihood = given - _log_partition(scores, mask, transitions)
    return tf.where(mask[:, 0], likelihood, tf.zeros_like(likelihood)), transitions


def crf_decode(
    potentials: tf.Tensor,
    transition_params: tf.Tensor,
    sequence_length: tf.Tensor,
    lite: LiteGraph | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """The best label sequence of each sentence (Viterbi).

    From ``potentials`` [N, T, C], scores of labels at tokens, ``transition_params`` [C, C], from
    the row's label to the column's, and ``sequence_length`` [N], integers.

    Returns: [N, T] int32 labels, 0 at padding; [N] their scores.
    """
    mask = tf.sequence_mask(sequence_length, tf.shape(potentials)[1])
    zeros = tf.zeros_like(transition_params[0])
    path, score = best_path(potentials, mask, zeros, transition_params, zeros, lite)
    return tf.where(mask, path, 0), score


def _log_partition(scores: tf.Tensor, mask: tf.Tensor, transitions: tf.Tensor) -> tf.Tensor:
    """Log of the summed weights of all sequences, [N]."""
    columns, used = permute(scores, [1, 0, 2]), tf.transpose(mask)

    def step(t, weights):
        through = tf.expand_dims(weights, 2) + transitions  # [N, C, C]
        reached = columns[t] + tf.reduce_logsumexp(through, axis=1)  # [N, C]
        return t + 1, tf.where(tf.expand_dims(used[t], 1), reached, weights)

    length = tf.shape(columns)[0]
    _, weights = tf.while_loop(lambda t, _: t < length, step, [1, columns[0]])
    return tf.reduce_logsumexp(weights, axis=1)


def chain_marginals(scores: tf.Tensor, transitions: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Returns the probability [N, T, C] of each label at each token, over all label sequences.

    A sequence y has the weight exp(sum_t scores[t, y_t] + sum_t transitions[y_t, y_{t+1}]). The
    caller adds scores of starting and ending to those of the first and last token. Forward and
    backward recursions are the same one: the second reads the sentences from their ends and the
    transitions transposed, so both run as one loop over 2N rows.

    Args:
      scores: [N, T, C] floats; ignored at padding, where the result is uniform.
      transitions: [C, C] floats, from the row's label to the column's. Impossible ones should
        be large and negative but finite.
      mask: [N, T] booleans, right-padded, True = token.

    Reference: Rabiner, 1989, "A Tutorial on Hidden Markov Models", section III; Lafferty et al.,
      2001, "Conditional Random Fields".
    """
    lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)  # [N]
    scores = tf.where(tf.expand_dims(mask, -1), scores, 0.0)
    both = tf.stack([scores, tf.reverse_sequence(scores, lengths, seq_axis=1)])  # [2, N, T, C]
    tables = tf.stack([transitions, tf.transpose(transitions)])  # [2, C, C]
    alphas = _recursion(permute(both, [2, 0, 1, 3]), tables)  # [T, 2, N, C]
    alphas = permute(alphas, [1, 2, 0, 3])  # [2, N, T, C]
    forward, backward = alphas[0], tf.reverse_sequence(alphas[1], lengths, seq_axis=1)
    # Each direction holds the token's own score; the softmax divides by the partition function.
    logits = forward + backward - scores
    return tf.nn.softmax(tf.where(tf.expand_dims(mask, -1), logits, 0.0))


def _recursion(scores: tf.Tensor, tables: tf.Tensor) -> tf.Tensor:
    """Log weight of all prefixes that end in a label, [T, 2, N, C], minus one number per prefix.

    The numbers are such that the largest of a row is 0, so that long sentences lose no precision.
    """
    steps, width = tf.shape(scores)[0], tables.shape[-1]
    shape = [2, scores.shape[2], width]
    results = tf.TensorArray(scores.dtype, steps, element_shape=shape)
    tables = tf.expand_dims(tables, 1)  # [2, 1, C, C]

    def step(t, before, results):
        reached = tf.reduce_logsumexp(tf.expand_dims(before, -1) + tables, axis=2)  # [2, N, C]
        now = scores[t] + tf.where(t > 0, reached, tf.zeros_like(reached))
        # Any number works, so no gradient goes through it.
        now -= tf.stop_gradient(tf.reduce_max(now, axis=-1, keepdims=True))
        return t + 1, now, results.write(t, now)

    zeros = tf.zeros([2, tf.shape(scores)[2], width], scores.dtype)
    *_, results = tf.while_loop(
        lambda t, *_: t < steps,
        step,
        (0, zeros, results),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(shape), None),
    )
    return results.stack()


class SpanWeights(NamedTuple):
    """Weights of the BIOES labels of N sentences of T tokens, K types; all positive.

    Attributes:
      outside: [N, T], of the label O.
      begin, inside, end, single: [N, T, K], of the four prefixes of each type.
    """

    outside: tf.Tensor
    begin: tf.Tensor
    inside: tf.Tensor
    end: tf.Tensor
    single: tf.Tensor


def span_marginals(weights: SpanWeights, mask: tf.Tensor | None, longest: int) -> tf.Tensor:
    """The probability of each span and type, over all valid label sequences.

    A sequence has the product of its labels' weights. Between two tokens either no span is open, or
    one of a type: 1 + K states. With f_t and g_t the summed weights of what is left and right of
    the place before token t, by its state (0: none is open), and Z of all,

        P(span s..e of type k) = f_s(0) B_s I_s+1 ... I_e-1 E_e g_e+1(0) / Z

    and single tokens likewise by S. The recursion from the right is that from the left with begin
    and end exchanged, so both run as one loop over 2N rows. A step gives sums of 1 and the number
    that was divided by, so that no product gets small: the cost is T steps of N (1 + K) numbers,
    then ``longest`` products of N T K.

    Args:
      weights: of labels, in [0, 1].
      mask: [N, T] booleans, right-padded, True = token; None: there is no padding.
      longest: tokens of the longest span.

    Returns: [N, T, longest, K]: of the span of l + 1 tokens that begins at a token; 0 where it
      would go beyond the sentence.
    Reference: Rabiner, 1989, "A Tutorial on Hidden Markov Models", section III.
    """
    outside, *typed = weights
    if mask is not None:
        column = tf.expand_dims(mask, -1)
        outside = tf.where(mask, outside, 1.0)  # so that states stay as they are
        typed = [tf.where(column, part, 0.0) for part in typed]
    begin, inside, end, single = typed
    closed = tf.expand_dims(outside, -1) + tf.reduce_sum(single, axis=-1, keepdims=True)
    # [N, T, 1 + 3K]: what leaves no span open, what closes one, goes on with one, opens one.
    left = tf.concat([closed, end, inside, begin], axis=-1)
    right = tf.concat([closed, begin, inside, end], axis=-1)
    both = tf.concat([left, tf.reverse(right, [1])], axis=0)  # [2N, T, 1 + 3K]
    states, sums = _span_states(permute(both, [1, 0, 2]), begin.shape[-1])
    states, sums = permute(states, [1, 0, 2]), tf.transpose(sums)  # [2N, T, 1 + K], [2N, T]
    before, after = tf.split(states, 2)
    none = tf.one_hot(tf.zeros_like(before[:, :1, 0], tf.int32), before.shape[-1])  # [N, 1, 1 + K]
    before = tf.concat([none, before[:, :-1]], axis=1)  # f, of the places before tokens
    after = tf.reverse(after, [1])  # g
    scale = tf.expand_dims(tf.reverse(tf.split(sums, 2)[1], [1]), -1)  # [N, T, 1]
    free = before[..., :1] / tf.reduce_sum(before * after, axis=-1, keepdims=True)  # f(0) / Z
    next_free = tf.concat([after[:, 1:, :1], none[..., :1]], axis=1)  # g(0) behind the token
    begin, inside = begin * free / scale, inside / scale
    end, single = end * next_free / scale, single * free * next_free / scale
    padding = [[0, 0], [0, longest - 1], [0, 0]]
    inside, end = tf.pad(inside, padding), tf.pad(end, padding)
    length = tf.shape(begin)[1]
    found, run = [single], begin
    for further in range(1, longest):
        found.append(run * end[:, further : further + length])
        run *= inside[:, further : further + length]
    return tf.stack(found, axis=2)


def _span_states(weights: tf.Tensor, types: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The states [T, N, 1 + K] behind each token, with a sum of 1, and their divisors [T, N]."""
    length = tf.shape(weights)[0]
    states = tf.TensorArray(weights.dtype, length, element_shape=[None, 1 + types])
    sums = tf.TensorArray(weights.dtype, length, element_shape=[None, 1])

    def step(t, free, opened, states, sums):
        closed, closes, goes_on, opens = tf.split(weights[t], [1, types, types, types], axis=-1)
        now = tf.concat(
            [
                closed * free + tf.reduce_sum(closes * opened, axis=-1, keepdims=True),
                goes_on * opened + opens * free,
            ],
            axis=-1,
        )
        total = tf.reduce_sum(now, axis=-1, keepdims=True)
        now /= total
        free, opened = tf.split(now, [1, types], axis=-1)
        return t + 1, free, opened, states.write(t, now), sums.write(t, total)

    free = tf.ones_like(weights[0, :, :1])
    opened = tf.zeros_like(weights[0, :, 1 : 1 + types])
    *_, states, sums = tf.while_loop(
        lambda t, *_: t < length, step, (0, free, opened, states, sums)
    )
    return states.stack(), tf.squeeze(sums.stack(), -1)


# Log weight of a beam that does not exist yet; finite, so that sums with it stay finite.
DEAD = -1e30

Step = Callable[[tf.Tensor, tf.Tensor, Any], tuple[tf.Tensor, Any]]


def beam_search(
    step: Step,
    state: tf.Tensor,
    mask: tf.Tensor,
    *,
    num_classes: int,
    beam_width: int = 1,
    reverse: bool = False,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Finds the label sequence of each sentence with the largest sum of log probabilities.

    The best ``beam_width`` beginnings are kept at each token: one is greedy search, and
    C^(T-1) or more of them find the exact maximum. At padding beams stay as they are.

    Args:
      step: maps (t, previous labels [B, K] int32, state) to log probabilities [B, K, C] of the
        label at t, and the new state. The previous label of the first token is ``num_classes``, C.
      state: [B, 1, ...] floats, what ``step`` reads before the first token.
      mask: [B, T] booleans, right-padded, True = token.
      beam_width: number K of beginnings kept.
      reverse: search from the last token to the first.

    Returns: labels [B, T] int32, 0 at padding, and their sums of log probabilities [B].
    Reference: Graves, 2012, "Sequence Transduction with Recurrent Neural Networks", section 3.
    """
    batch, steps = tf.shape(mask)[0], tf.shape(mask)[1]
    state = tf.repeat(state, beam_width, axis=1)  # [B, K, ...]
    first = tf.concat([[0.0], tf.fill([beam_width - 1], DEAD)], axis=0)

    def advance(count, totals, labels, history, state):
        t = steps - 1 - count if reverse else count
        log_probs, new_state = step(t, labels, state)
        sums = tf.expand_dims(totals, -1) + tf.cast(log_probs, totals.dtype)  # [B, K, C]
        new_totals, chosen = tf.math.top_k(
            tf.reshape(sums, [batch, beam_width * num_classes]), beam_width
        )
        parents, new_labels = chosen // num_classes, chosen % num_classes  # [B, K]
        new_state = tf.gather(new_state, parents, batch_dims=1)
        here = tf.range(steps) == t  # [T]
        new_history = tf.where(
            here, tf.expand_dims(new_labels, -1), tf.gather(history, parents, batch_dims=1)
        )

        is_token = tf.expand_dims(mask[:, t], 1)  # [B, 1]
        deep = tf.reshape(
            is_token, tf.concat([[batch], tf.ones([tf.rank(state) - 1], tf.int32)], 0)
        )
        return (
            count + 1,
            tf.where(is_token, new_totals, totals),
            tf.where(is_token, new_labels, labels),
            tf.where(tf.expand_dims(is_token, -1), new_history, history),
            tf.where(deep, new_state, state),
        )

    _, totals, _, history, _ = tf.while_loop(
        lambda count, *_: count < steps,
        advance,
        (
            0,
            tf.tile(tf.expand_dims(first, 0), [batch, 1]),
            tf.fill([batch, beam_width], num_classes),
            tf.zeros([batch, beam_width, steps], tf.int32),
            state,
        ),
        shape_invariants=(
            tf.TensorShape([]),
            tf.TensorShape([None, beam_width]),
            tf.TensorShape([None, beam_width]),
            tf.TensorShape([None, beam_width, None]),
            tf.TensorShape([None, beam_width, *state.shape[2:]]),
        ),
    )
    # The best one comes first.
    return history[:, 0], totals[:, 0]


def chunk_boundaries(
    types: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor, mask: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Reads chunks the way conlleval does: every token inside some chunk stays in one.

    A chunk begins at a token whose label starts one, or whose predecessor is outside, of another
    type, or ends one. ``types`` [B, T] int32 are the tokens' chunk types, 0 outside; the others are
    booleans [B, T], ``starts`` True for the prefixes B and S, ``ends`` for E and S.

    Returns: begins, finishes, touches: [B, T] booleans: the token is the first of its chunk; the
      last; its predecessor is in a chunk of the same type.
    """
    types = keep(mask, types)
    inside = types > 0
    before = tf.pad(types[:, :-1], [[0, 0], [1, 0]])  # outside before the first
    following = tf.pad(types[:, 1:], [[0, 0], [0, 1]])
    # No zeros_like: TensorFlow Lite cannot plan the memory of one of booleans.
    no = types[:, :1] < 0
    ended = tf.concat([no, ends[:, :-1]], axis=1)
    touches = inside & (before == types)
    begins = inside & (starts | ended | tf.logical_not(touches))
    begins_next = tf.concat([begins[:, 1:], no], axis=1)
    finishes = inside & ((following != types) | begins_next)
    return begins, finishes, touches
