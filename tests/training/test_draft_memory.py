import numpy as np
import pytest
import tensorflow as tf

from tests.ops.test_drafts_elsewhere import by_loops
from uanet_tf.data.batching import BatchBuilder, EncodedCorpus
from uanet_tf.data.lookup import word_keys
from uanet_tf.ops.graphs import graph_function
from uanet_tf.training.draft_memory import DraftMemory

TEXTS = ["Oslo is in Norway", "Oslo", "to Oslos Norway", "Oslo Norway", "in Norwegen Oslo"]
DOCUMENTS = [0, 0, 0, 1, 1]
TOKENS = [token for text in TEXTS for token in text.split()]
C = 3


@pytest.fixture
def corpus():
    lengths = [len(text.split()) for text in TEXTS]
    plain = EncodedCorpus(
        forms={"form_word_ids": np.arange(len(TOKENS), dtype=np.int32)},
        form_index=np.arange(len(TOKENS), dtype=np.int32),
        label_ids=np.zeros(len(TOKENS), np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
    )
    return plain.in_documents([3, 2], TOKENS)


def exchange(memory, corpus, rows, seed):
    """Drafts of a batch and what is read for it, at its tokens; their numbers."""
    features, _ = BatchBuilder(corpus)(tf.constant(rows, tf.int64))
    shape = features["corpus_tokens"].shape
    drafts = np.random.default_rng(seed).dirichlet(np.ones(C), shape).astype(np.float32)
    found = memory.exchange(features, tf.constant(drafts)).numpy()
    real = features["corpus_tokens"].numpy() >= 0
    assert not found[~real].any()
    return features["corpus_tokens"].numpy()[real], drafts[real], found[real]


@pytest.mark.parametrize("in_graph", [False, True])
def test_the_last_drafts_of_the_other_sentences_are_read(corpus, in_graph):
    memory = DraftMemory(corpus, C)
    if in_graph:
        memory.exchange = graph_function()(memory.exchange)
    known, seen = np.full([len(TOKENS), C], np.nan, np.float32), np.zeros(len(TOKENS), bool)
    sentence = np.repeat(np.arange(len(TEXTS)), [len(text.split()) for text in TEXTS])
    document = np.array(DOCUMENTS)[sentence]
    keys = [document * 2**40 + key.numpy() for key in word_keys(tf.constant(TOKENS)).values()]
    for seed, rows in enumerate([[2], [4, 0], [1, 3], [0, 2]]):
        tokens, drafts, found = exchange(memory, corpus, rows, seed)
        known[tokens], seen[tokens] = drafts, True
        expected = by_loops(known, seen, keys, sentence, document)[tokens]
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert expected[0][C] > 0, "the last batch has mentions elsewhere"


def test_its_state_is_saved(corpus, tmp_path):
    memory, other = DraftMemory(corpus, C), DraftMemory(corpus, C)
    exchange(memory, corpus, [0, 1, 4], 1)
    path = tf.train.Checkpoint(memory=memory).write(str(tmp_path / "state"))
    tf.train.Checkpoint(memory=other).read(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(
        exchange(other, corpus, [2, 3], 2)[2], exchange(memory, corpus, [2, 3], 2)[2]
    )


def test_a_corpus_without_documents_is_refused(corpus):
    with pytest.raises(ValueError, match="documents"):
        DraftMemory(
            EncodedCorpus(corpus.forms, corpus.form_index, corpus.label_ids, corpus.offsets), C
        )
