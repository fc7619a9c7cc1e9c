import numpy as np
import pytest
import tensorflow as tf

from uanet_tf.layers.relative_attention import QueryTokens, rows_with_queries

MASKS = {
    "several": [[0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 1]],
    "every": [[1, 1], [1, 1]],
    "none": [[0, 0, 0], [0, 0, 0]],
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_rows_are_the_tokens_wanted_in_order(mask):
    wanted = np.array(mask, bool)
    inputs = np.random.default_rng(1).normal(size=[*wanted.shape, 5]).astype(np.float32)
    queries = QueryTokens.of_mask(tf.constant(wanted))
    np.testing.assert_array_equal(queries.rows(tf.constant(inputs)), inputs[wanted])


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_block_has_each_token_in_its_sentence_and_back(mask):
    wanted = np.array(mask, bool)
    queries = QueryTokens.of_mask(tf.constant(wanted))
    where = np.argwhere(wanted).astype(np.float32)  # [K, 2]: sentence, position
    block = queries.block(tf.expand_dims(where, 1)).numpy()  # [B, Q, 2], of one head
    assert block.shape[:2] == (len(wanted), wanted.sum(axis=1).max())
    np.testing.assert_array_equal(queries.unblock(tf.constant(block), 1)[:, 0], where)
    for sentence, count in enumerate(wanted.sum(axis=1)):
        expected = np.flatnonzero(wanted[sentence])
        np.testing.assert_array_equal(block[sentence, :count, 0], sentence)
        np.testing.assert_array_equal(block[sentence, :count, 1], expected)
        np.testing.assert_array_equal(queries.positions[sentence, :count], expected)
    assert (queries.positions.numpy() < wanted.shape[1]).all()


@pytest.mark.parametrize("row", [[0, 1, 0, 1, 1], [1], [0, 0]])
def test_of_one_sentence_they_are_the_same(row):
    wanted = tf.constant(np.array([row], bool))
    found, expected = QueryTokens.of_sentence(wanted), QueryTokens.of_mask(wanted)
    np.testing.assert_array_equal(found.tokens, expected.tokens)
    np.testing.assert_array_equal(found.own_positions, expected.own_positions)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_rows_are_filled_up_to_a_multiple(mask):
    wanted = np.array(mask, bool)
    inputs = tf.random.normal([*wanted.shape, 5])
    queries = QueryTokens.of_mask(tf.constant(wanted), multiple=4)
    rows = queries.rows(inputs).numpy()
    count = wanted.sum()
    assert len(rows) == -(-count // 4) * 4
    np.testing.assert_array_equal(rows[:count], inputs.numpy()[wanted])
    block = queries.block(tf.expand_dims(rows, 1))  # of one head
    again = queries.unblock(block, 1)[:, 0]
    np.testing.assert_array_equal(again[:count], rows[:count])
    assert again.shape == rows.shape


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_rows_with_queries_hold_each_wanted_token_once_and_in_order(mask):
    wanted = np.array(mask, bool)
    rows, queries = rows_with_queries(tf.constant(wanted))
    assert queries.numpy().any(axis=1).all()
    found = [(row, t) for row, own in zip(rows.numpy(), queries.numpy(), strict=True)
             for t in np.flatnonzero(own)]  # fmt: skip
    assert found == [tuple(place) for place in np.argwhere(wanted)]


def test_a_sentence_with_many_wanted_tokens_is_several_rows():
    wanted = np.zeros([6, 20], bool)
    wanted[[0, 1, 3, 4], [5, 0, 7, 19]] = True
    wanted[2, 3:14] = True  # 15 in 5 sentences: rows of at most 5
    rows, queries = rows_with_queries(tf.constant(wanted))
    assert rows.numpy().tolist() == [0, 1, 2, 2, 2, 3, 4]
    assert queries.numpy().sum(axis=1).tolist() == [1, 1, 5, 5, 1, 1, 1]


def test_where_all_tokens_are_wanted_no_sentence_is_split():
    wanted = np.arange(9) < np.array([[9], [8], [9], [7]])
    rows, queries = rows_with_queries(tf.constant(wanted))
    assert rows.numpy().tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(queries, wanted)
