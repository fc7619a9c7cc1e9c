import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.drafts_elsewhere import drafts_elsewhere
from uanet_tf.ops.graph_function import graph_function

N, C = 40, 3
RANDOM = np.random.default_rng(1)
DRAFTS = RANDOM.dirichlet(np.ones(C), N).astype(np.float32)
SEEN = RANDOM.random(N) < 0.8
KEYS = [RANDOM.integers(0, 20, N) * 10**15, RANDOM.integers(-3, 3, N)]
SENTENCES = np.sort(RANDOM.integers(0, 6, N)).astype(np.int32)


def by_loops(drafts, seen, keys, sentences):
    rows = []
    for i in range(len(drafts)):
        row = []
        for key in keys:
            others = [
                drafts[j]
                for j in range(len(drafts))
                if seen[j] and key[j] == key[i] and sentences[j] != sentences[i]
            ]
            mean = np.mean(others, axis=0) if others else np.zeros(drafts.shape[1])
            row += [*mean, np.log1p(len(others))]
        rows.append(row)
    return np.array(rows)


def computed(drafts, seen, keys, sentences):
    return drafts_elsewhere(
        tf.constant(drafts), tf.constant(seen), [tf.constant(key) for key in keys], sentences
    ).numpy()


def test_it_is_the_mean_of_the_other_sentences():
    expected = by_loops(DRAFTS, SEEN, KEYS, SENTENCES)
    assert (expected[:, C] == 0).any()
    assert (expected[:, C] > 1).any()
    np.testing.assert_allclose(computed(DRAFTS, SEEN, KEYS, SENTENCES), expected, atol=1e-6)


def test_no_other_mention_is_exactly_nothing():
    found = computed(DRAFTS, SEEN, KEYS, np.zeros(N, np.int32))
    np.testing.assert_array_equal(found, np.zeros([N, 2 * (C + 1)]))


def test_what_is_not_seen_is_not_read():
    broken = np.where(SEEN[:, None], DRAFTS, np.nan).astype(np.float32)
    np.testing.assert_array_equal(
        computed(broken, SEEN, KEYS, SENTENCES), computed(DRAFTS, SEEN, KEYS, SENTENCES)
    )


def test_the_order_of_tokens_does_not_matter():
    order = RANDOM.permutation(N)
    moved = computed(DRAFTS[order], SEEN[order], [key[order] for key in KEYS], SENTENCES[order])
    np.testing.assert_allclose(moved, computed(DRAFTS, SEEN, KEYS, SENTENCES)[order], atol=1e-6)


@pytest.mark.parametrize("count", [0, 1])
def test_few_tokens_in_a_graph(count):
    specs = [
        tf.TensorSpec([None, C]),
        tf.TensorSpec([None], tf.bool),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([None], tf.int32),
    ]
    graph = graph_function(specs)(lambda p, seen, key, s: drafts_elsewhere(p, seen, [key], s))
    found = graph(
        tf.ones([count, C]),
        tf.ones([count], tf.bool),
        tf.zeros([count], tf.int64),
        [0] * count if count else tf.zeros([0], tf.int32),
    )
    np.testing.assert_array_equal(found, np.zeros([count, C + 1]))
