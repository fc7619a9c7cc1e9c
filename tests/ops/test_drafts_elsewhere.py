import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.ops.drafts_elsewhere import drafts_elsewhere, elsewhere_width
from uanet_tf.ops.graphs import graph_function

N, C = 40, 3
RANDOM = np.random.default_rng(1)
DRAFTS = RANDOM.dirichlet(np.ones(C), N).astype(np.float32)
SEEN = RANDOM.random(N) < 0.8
KEYS = [RANDOM.integers(0, 20, N) * 10**15, RANDOM.integers(-3, 3, N)]
SENTENCES = np.sort(RANDOM.integers(0, 6, N)).astype(np.int32)
DOCUMENTS = np.array([0, 0, 1, 2, 2, 2], np.int32)[SENTENCES]


def by_loops(drafts, seen, keys, sentences, documents):
    def others_of(i, key):
        found = seen & (key == key[i]) & (np.asarray(sentences) != sentences[i])
        return drafts[found]

    rows = []
    for i in range(len(drafts)):
        row = []
        for key in keys:
            others = others_of(i, key)
            mean = np.mean(others, axis=0) if len(others) else np.zeros(drafts.shape[1])
            row += [*mean, np.log1p(len(others))]
        rows.append([*row, float(len(others_of(i, documents)) > 0)])
    return np.array(rows)


def computed(drafts, seen, keys, sentences, documents=DOCUMENTS):
    return drafts_elsewhere(
        tf.constant(drafts),
        tf.constant(seen),
        [tf.constant(key) for key in keys],
        sentences,
        tf.constant(documents),
    ).numpy()


def test_it_is_the_mean_of_the_other_sentences():
    expected = by_loops(DRAFTS, SEEN, KEYS, SENTENCES, DOCUMENTS)
    assert set(expected[:, -1]) == {0.0, 1.0}
    assert (expected[:, C] == 0).any()
    assert (expected[:, C] > 1).any()
    np.testing.assert_allclose(computed(DRAFTS, SEEN, KEYS, SENTENCES), expected, atol=1e-6)


def test_no_other_mention_is_exactly_nothing():
    found = computed(DRAFTS, SEEN, KEYS, np.zeros(N, np.int32))
    np.testing.assert_array_equal(found, np.zeros([N, elsewhere_width(C, len(KEYS))]))


def test_what_is_not_seen_is_not_read():
    broken = np.where(SEEN[:, None], DRAFTS, np.nan).astype(np.float32)
    np.testing.assert_array_equal(
        computed(broken, SEEN, KEYS, SENTENCES), computed(DRAFTS, SEEN, KEYS, SENTENCES)
    )


def test_the_order_of_tokens_does_not_matter():
    order = RANDOM.permutation(N)
    keys = [key[order] for key in KEYS]
    moved = computed(DRAFTS[order], SEEN[order], keys, SENTENCES[order], DOCUMENTS[order])
    np.testing.assert_allclose(moved, computed(DRAFTS, SEEN, KEYS, SENTENCES)[order], atol=1e-6)


@pytest.mark.parametrize("count", [0, 1])
def test_few_tokens_in_a_graph(count):
    specs = [
        tf.TensorSpec([None, C]),
        tf.TensorSpec([None], tf.bool),
        tf.TensorSpec([None], tf.int64),
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None], tf.int32),
    ]
    graph = graph_function(specs)(
        lambda p, seen, key, *rows: drafts_elsewhere(p, seen, [key], *rows)
    )
    found = graph(
        tf.ones([count, C]),
        tf.ones([count], tf.bool),
        tf.zeros([count], tf.int64),
        *[tf.zeros([count], tf.int32)] * 2,
    )
    np.testing.assert_array_equal(found, np.zeros([count, elsewhere_width(C, 1)]))
