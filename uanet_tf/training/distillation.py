"""Trains the drafter's head, after training, to predict the result of Monte Carlo samples.

Text of the training set, and further text if there is some, mostly sentences that are uncertain, is
drafted once without dropout and M times with it, under new masks for each batch. The head learns
the mean distribution (KL divergence) and the share of its entropy that is disagreement of the
samples (cross entropy, weighted by the entropy). No labels are read.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from uanet_tf.data.batching import BatchBuilder, EncodedCorpus, plan_batches
from uanet_tf.errors import InputError
from uanet_tf.models.drafter import Drafter, token_mask
from uanet_tf.ops.dropout import dropout, make_seed
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.losses import entropy, mutual_information
from uanet_tf.ops.numerics import widen

# Tokens to draft: more of a longer training text, which takes longer by itself.
LEAST_TOKENS, MOST_TOKENS = 30_000, 100_000
_SHARE = 0.3  # of the training text
_plan = functools.partial(plan_batches, batch_size=64, batch_tokens=4_096)
_MOST_BATCHES = MOST_TOKENS  # of a corpus: each has a token
_STEP_TOKENS, _STEPS, _LEARNING_RATE = 1_024, 900, 3e-3
_DROPOUT, _WEIGHT_DECAY = 0.05, 0.2
# Most is learnt from tokens of which the pass without dropout is not certain; the rest keeps the
# head where it should be on the others.
UNCERTAIN = 0.8
# One pass over so many times the tokens costs a sixth of 16 samples of those that are chosen.
_POOL = 3


class DistillationData(NamedTuple):
    """The training data of the head: N tokens."""

    states: np.ndarray  # [N, H] of the pass without dropout
    logits: np.ndarray  # [N, C] of the same
    probabilities: np.ndarray  # [N, C], the mean of the samples
    mutual_information: np.ndarray  # [N], nats


def distill(
    drafter: Drafter, corpora: Sequence[EncodedCorpus], *, num_samples: int, seed: int
) -> None:
    """Trains the head ``drafter.distilled``; all other weights, which are final, stay.

    Args:
      corpora: the training text, and others; an equal part of each is drafted, labels are not read.
      num_samples: M, samples of each batch.
      seed: of the choice of sentences, the masks and the order.
    """
    head = drafter.distilled
    if head is None:
        raise InputError("`drafter` must have a head to train. Received: distilled=None")
    most = tokens_to_draft(corpora[0]) // len(corpora)
    draft = functools.partial(distillation_data, num_samples=num_samples, seed=seed, most=most)
    drafted = [draft(drafter, corpus, number=number) for number, corpus in enumerate(corpora)]
    data = DistillationData(*(np.concatenate(part) for part in zip(*drafted, strict=True)))
    optimizer = tf.keras.optimizers.AdamW(
        tf.keras.optimizers.schedules.CosineDecay(_LEARNING_RATE, _STEPS),
        weight_decay=_WEIGHT_DECAY,
        jit_compile=False,
    )
    weights = [head.hidden_kernel, head.hidden_bias, head.output_kernel, head.output_bias]
    optimizer.build(weights)

    @graph_function()
    def step(states, logits, p, disagreement, dropout_seed):
        inputs = dropout(head.inputs(states, tf.nn.softmax(logits)), _DROPOUT, dropout_seed)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(weights)
            shift, share = head.outputs(inputs)
            # In full, where answers take a part: without certain tokens the head comes less near.
            learnt = tf.nn.log_softmax(logits + shift)
            loss = -tf.reduce_sum(p * learnt, axis=-1)  # KL, up to the entropy of p
            total = entropy(p)
            target = tf.math.divide_no_nan(disagreement, total)
            wrong = tf.nn.sigmoid_cross_entropy_with_logits(target, share)
            loss = tf.reduce_mean(loss + total * wrong)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    random = np.random.default_rng([seed, 1])
    batches = itertools.islice(_shuffled(len(data.states), random), _STEPS)
    for number, rows in enumerate(batches):
        step(*(tf.constant(part[rows]) for part in data), make_seed(seed, number))
    head.was_trained.assign(1.0)


def tokens_to_draft(corpus: EncodedCorpus) -> int:
    """At most how many tokens, of all corpora together, a head learns from.

    ``corpus`` is what the drafter was trained on.
    """
    return int(min(MOST_TOKENS, max(LEAST_TOKENS, _SHARE * len(corpus.form_index))))


def distillation_data(
    drafter: Drafter,
    corpus: EncodedCorpus,
    *,
    num_samples: int,
    seed: int,
    most: int = LEAST_TOKENS,
    number: int = 0,
) -> DistillationData:
    """Drafts sentences of a corpus with and without dropout, as in ``distill``.

    Args:
      most: tokens that are drafted; a single sentence may have more.
      number: of the corpus: each has masks of its own.
    """
    chosen = choose_sentences(drafter, corpus, most, np.random.default_rng([seed, 0]))
    builder = BatchBuilder(corpus)

    @graph_function([tf.TensorSpec([None], tf.int64), tf.TensorSpec([2], tf.int32)])
    def run(numbers, masks_seed):
        features = drafter.read(builder(numbers)[0])
        mask = token_mask(features)
        words = drafter.word_vectors(features)
        plain = drafter.plain_states(words, mask)  # [B, T, H]
        states = drafter.sample_states(words, mask, num_samples, masks_seed)  # [M, B, T, H]
        samples = drafter.decoder.decide(states, mask).samples  # [M, B, T, C]
        parts = (
            tf.cast(plain, tf.float32),
            tf.cast(drafter.decoder.logits(plain), tf.float32),
            tf.reduce_mean(samples, axis=0),
            mutual_information(samples),
        )
        return tuple(tf.boolean_mask(part, mask) for part in parts)

    drafted = [
        run(tf.constant(chosen[batch], tf.int64), make_seed(seed, number * _MOST_BATCHES + step))
        for step, batch in enumerate(_plan(corpus.lengths[chosen]))
    ]
    return DistillationData(
        *(np.concatenate([x.numpy() for x in part]) for part in zip(*drafted, strict=True))
    )


def _shuffled(count: int, random: np.random.Generator):
    """Endless row numbers of minibatches, every row once per pass."""
    while True:
        order = random.permutation(count)
        yield from (order[k : k + _STEP_TOKENS] for k in range(0, count, _STEP_TOKENS))


def choose_sentences(
    drafter: Drafter, corpus: EncodedCorpus, most: int, random: np.random.Generator
) -> np.ndarray:
    """Numbers [S] of sentences, in any order, with at most ``most`` tokens together.

    Of a random part of the corpus, the sentences of the highest mean entropy in the pass without
    dropout, for the share ``UNCERTAIN`` of the tokens, and others at random. A corpus that is not
    larger is taken whole; at least one sentence is chosen. Labels are not read.
    """
    lengths = corpus.lengths
    order = random.permutation(len(lengths))
    if lengths.sum() <= most:
        return order
    pool = _first(order, lengths, _POOL * most)
    uncertain = pool[np.argsort(-_mean_entropy(drafter, corpus, pool), kind="stable")]
    uncertain = _first(uncertain, lengths, int(UNCERTAIN * most))
    others = pool[~np.isin(pool, uncertain)]
    others = _first(others, lengths, most - int(lengths[uncertain].sum()))
    chosen = np.concatenate([uncertain, others])
    return chosen if len(chosen) else np.argsort(lengths)[:1]


def _first(numbers: np.ndarray, lengths: np.ndarray, most: int) -> np.ndarray:
    """The first of the sentences, with at most ``most`` tokens together."""
    return numbers[np.cumsum(lengths[numbers]) <= most]


def _mean_entropy(drafter: Drafter, corpus: EncodedCorpus, numbers: np.ndarray) -> np.ndarray:
    """Of each sentence in the pass without dropout, nats per token, [S]."""
    builder = BatchBuilder(corpus)

    @graph_function([tf.TensorSpec([None], tf.int64)])
    def run(batch):
        features = drafter.read(builder(batch)[0])
        mask = token_mask(features)
        states = drafter.plain_states(drafter.word_vectors(features), mask)
        u = entropy(tf.nn.softmax(widen(drafter.decoder.logits(states))))  # [B, T]
        return tf.reduce_sum(tf.where(mask, u, 0.0), axis=1)

    found = np.zeros(len(numbers))
    for batch in _plan(corpus.lengths[numbers]):
        found[batch] = run(tf.constant(numbers[batch], tf.int64)).numpy()
    return found / np.maximum(corpus.lengths[numbers], 1)
