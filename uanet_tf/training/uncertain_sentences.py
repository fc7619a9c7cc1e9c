"""Which sentences the head of one pass learns from."""

import numpy as np
import tensorflow as tf

from uanet_tf.data.batching import BatchBuilder, EncodedCorpus, plan_batches
from uanet_tf.models.drafter import Drafter, token_mask
from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.losses import entropy
from uanet_tf.ops.numerics import widen

# Most is learnt from tokens of which the pass without dropout is not certain; the rest keeps the
# head where it should be on the others.
UNCERTAIN = 0.8
# One pass over so many times the tokens costs a sixth of 16 samples of those that are chosen.
_POOL = 3
_BATCH_SENTENCES, _BATCH_TOKENS = 64, 4_096


def choose_sentences(
    drafter: Drafter, corpus: EncodedCorpus, most: int, random: np.random.Generator
) -> np.ndarray:
    """Numbers of sentences, in any order, with at most ``most`` tokens together.

    Of a random part of the corpus, the sentences of the highest mean entropy in the pass without
    dropout, for the share ``UNCERTAIN`` of the tokens, and others at random. A corpus that is not
    larger is taken whole; at least one sentence is chosen.

    Args:
      drafter: with its final weights.
      corpus: sentences; labels are not read.
      most: tokens.
      random: draws the part and the others.

    Returns:
      [S] int64.
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
        features, _ = builder(batch)
        features = drafter.read(features)
        mask = token_mask(features)
        states = drafter.plain_states(drafter.word_vectors(features), mask)
        u = entropy(tf.nn.softmax(widen(drafter.decoder.logits(states))))  # [B, T]
        return tf.reduce_sum(tf.where(mask, u, 0.0), axis=1)

    found = np.zeros(len(numbers))
    plan = plan_batches(
        corpus.lengths[numbers], batch_size=_BATCH_SENTENCES, batch_tokens=_BATCH_TOKENS
    )
    for batch in plan:
        found[batch] = run(tf.constant(numbers[batch], tf.int64)).numpy()
    return found / np.maximum(corpus.lengths[numbers], 1)
