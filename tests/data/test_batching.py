import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_tf.data.batching import (
    SORTED_BATCHES,
    BatchBuilder,
    EncodedCorpus,
    batched_dataset,
    plan_batches,
)
from uanet_tf.ops.graphs import graph_function

LENGTHS = np.random.default_rng(1).integers(1, 40, 500)


@settings(max_examples=100, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 30), max_size=60),
    batch_size=st.integers(1, 9),
    batch_tokens=st.integers(1, 100),
    seed=st.none() | st.integers(0, 5),
)
def test_bounds_hold_and_each_sentence_stands_once(lengths, batch_size, batch_tokens, seed):
    lengths = np.array(lengths, np.int64)
    plan = plan_batches(lengths, batch_size=batch_size, batch_tokens=batch_tokens, seed=seed)
    assert sorted(k for batch in plan for k in batch) == list(range(len(lengths)))
    for batch in plan:
        assert 1 <= len(batch) <= batch_size
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= batch_tokens


def test_batches_are_as_full_as_the_bounds_allow():
    plan = plan_batches(np.full(20, 5), batch_size=4, batch_tokens=15)
    assert [len(batch) for batch in plan] == [3] * 6 + [2]
    plan = plan_batches(np.full(20, 5), batch_size=4, batch_tokens=1000)
    assert [len(batch) for batch in plan] == [4] * 5


def test_order_is_fixed_by_seed_and_epoch():
    def flat(seed, epoch):
        plan = plan_batches(LENGTHS, batch_size=8, batch_tokens=999, seed=seed, epoch=epoch)
        return [tuple(batch) for batch in plan]

    assert flat(1, 0) == flat(1, 0)
    assert flat(1, 3) == flat(1, 3)
    orders = [flat(1, 0), flat(1, 1), flat(2, 0), flat(2, 1)]
    assert len({tuple(order) for order in orders}) == 4
    # New batches, not old ones in a new order.
    assert not set(orders[0]) <= set(orders[1])


def test_few_sentences_are_read_again_in_other_batches():
    options = {"batch_size": 8, "batch_tokens": 999, "seed": 1, "epoch": 2}
    once = plan_batches(LENGTHS, **options)
    plan = plan_batches(LENGTHS, min_batches=2 * len(once) + 1, **options)
    assert len(plan) == 3 * len(once)
    readings = [plan[k : k + len(once)] for k in range(0, len(plan), len(once))]
    for reading in readings:
        assert sorted(np.concatenate(reading)) == list(range(len(LENGTHS)))
    assert len({tuple(np.concatenate(reading)) for reading in readings}) == 3
    np.testing.assert_array_equal(np.concatenate(readings[0]), np.concatenate(once))
    assert len(plan_batches(LENGTHS, min_batches=len(once), **options)) == len(once)
    nothing = np.zeros(0, np.int64)
    assert plan_batches(nothing, min_batches=9, **options) == []


def test_without_seed_sentences_go_from_short_to_long():
    plan = plan_batches(LENGTHS, batch_size=8, batch_tokens=999)
    lengths = LENGTHS[np.concatenate(plan)]
    assert (np.diff(lengths) >= 0).all()


def test_training_batches_hold_similar_lengths_in_a_random_order():
    plan = plan_batches(LENGTHS, batch_size=8, batch_tokens=999, seed=1)
    padded = sum(len(batch) * LENGTHS[batch].max() for batch in plan)
    assert padded < 1.1 * LENGTHS.sum()
    longest = [LENGTHS[batch].max() for batch in plan]
    assert abs(np.corrcoef(longest, range(len(longest)))[0, 1]) < 0.4


def test_sorting_stays_within_a_window():
    """Of many sentences, a batch only meets those of its own window: epochs mix well."""
    lengths = np.arange(4 * SORTED_BATCHES)  # all different
    plan = plan_batches(lengths, batch_size=2, batch_tokens=10**6, seed=1)
    gaps = [np.ptp(lengths[batch]) for batch in plan]
    assert np.mean(gaps) > 1.2  # sorted as a whole, each gap would be 1


CORPUS = EncodedCorpus(
    forms={
        "form_word_ids": np.array([7, 3, 1, 9], np.int32),
        "form_char_ids": np.array([[4, 0, 0], [5, 6, 0], [2, 2, 2], [0, 0, 0]], np.int32),
    },
    form_index=np.array([1, 1, 2, 1, 3, 1, 0], np.int32),
    label_ids=np.array([4, 2, 0, -1, 1, 1, 3], np.int32),
    offsets=np.array([0, 2, 5, 6, 7], np.int64),
)


@pytest.mark.parametrize("sentences", [[0], [1], [1, 0], [2, 3], [3, 2, 1, 0], [0, 0]])
@pytest.mark.parametrize("in_graph", [False, True])
def test_features_are_those_of_the_sentences(sentences, in_graph):
    builder = BatchBuilder(CORPUS)
    build = graph_function()(builder) if in_graph else builder
    features, labels = build(tf.constant(sentences, tf.int64))
    assert {x.dtype for x in [*features.values(), labels]} == {tf.int32}
    features = {name: value.numpy() for name, value in features.items()}
    expected = [slice(*CORPUS.offsets[k : k + 2]) for k in sentences]
    lengths = [part.stop - part.start for part in expected]
    assert features["lengths"].tolist() == lengths
    assert features["form_index"].shape == labels.shape == (len(sentences), max(lengths))
    assert len(set(features["form_word_ids"])) == len(features["form_word_ids"])
    for row, (part, length) in enumerate(zip(expected, lengths, strict=True)):
        forms = CORPUS.form_index[part]
        index = features["form_index"][row, :length]
        np.testing.assert_array_equal(
            features["form_word_ids"][index], CORPUS.forms["form_word_ids"][forms]
        )
        chars = features["form_char_ids"][index]
        width = chars.shape[1]
        np.testing.assert_array_equal(chars, CORPUS.forms["form_char_ids"][forms][:, :width])
        assert (CORPUS.forms["form_char_ids"][forms][:, width:] == 0).all()
        np.testing.assert_array_equal(labels[row, :length], CORPUS.label_ids[part])
        assert (labels[row, length:].numpy() == 0).all()


def test_characters_are_cut_to_the_longest_word_of_the_batch():
    features, _ = BatchBuilder(CORPUS)(tf.constant([0], tf.int64))
    assert features["form_char_ids"].shape == [1, 2]
    corpus_of_empty = EncodedCorpus(
        forms={
            "form_word_ids": np.array([1], np.int32),
            "form_char_ids": np.zeros([1, 3], np.int32),
        },
        form_index=np.zeros([1], np.int32),
        label_ids=np.zeros([1], np.int32),
        offsets=np.array([0, 1], np.int64),
    )
    features, _ = BatchBuilder(corpus_of_empty)(tf.constant([0], tf.int64))
    assert features["form_char_ids"].shape == [1, 1]


def test_data_set_follows_the_plan_anew_in_each_pass():
    plans = iter([[[0, 1], [2]], [[3]]])
    dataset = batched_dataset(
        BatchBuilder(CORPUS), lambda: (np.array(batch) for batch in next(plans))
    )
    passes = [[features["lengths"].numpy().tolist() for features, _ in dataset] for _ in "ab"]
    assert passes == [[[2, 3], [1]], [[1]]]
