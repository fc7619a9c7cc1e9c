import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_tf.ops.graphs import graph_function
from uanet_tf.ops.subword_windows import subword_rows

FIRST, LAST = 101, 102


def as_array(sentences):
    """[B, T, S] of sentences of words of sub-word ids."""
    length = max([1, *(len(words) for words in sentences)])
    width = max([1, *(len(word) for words in sentences for word in words)])
    array = np.zeros([len(sentences), length, width], np.int32)
    for row, words in enumerate(sentences):
        for step, word in enumerate(words):
            array[row, step, : len(word)] = word
    return array


def rows_of(sentences, size, context=64):
    rows = subword_rows(
        tf.constant(as_array(sentences)), size=size, first_id=FIRST, last_id=LAST, context=context
    )
    return [value.numpy() for value in rows]


def number_words(sizes):
    """Sentences whose sub-words are 1000, 1001, ...: each has an id of its own."""
    numbers = iter(range(1000, 10**6))
    return [[[next(numbers) for _ in range(size)] for size in words] for words in sizes]


def test_short_sentences_stand_in_a_row_each():
    sentences = [[[5], [6, 7]], [[8]], []]
    ids, mask, places, _, of = rows_of(sentences, size=10)
    assert of.tolist() == [0, 1, 2]
    assert ids.tolist() == [[FIRST, 5, 6, 7, LAST], [FIRST, 8, LAST, 0, 0], [FIRST, LAST, 0, 0, 0]]
    np.testing.assert_array_equal(mask, ids > 0)
    assert places.tolist() == [[0, 1], [0, 2], [1, 1]]


def test_a_sentence_that_just_fits():
    (sentence,) = number_words([[1] * 8])
    ids, *_ = rows_of([sentence], size=10)
    assert ids.shape == (1, 10)
    longer = [*sentence, [7]]
    ids, mask, places, _, of = rows_of([longer, [[1]]], size=10, context=2)
    assert of.tolist() == [0, 0, 1]
    ids, mask = ids[:2], mask[:2]
    places = places[:-1]
    assert ids.shape == (2, 10)
    assert mask.all()
    # Windows of 8 that advance by 4; the second is moved back to the end of the 9.
    assert ids[1].tolist() == [FIRST, *(word[0] for word in longer[1:]), LAST]
    # The last word with 2 sub-words of context on its right is the sixth.
    assert places[:, 0].tolist() == [0] * 6 + [1] * 3
    assert places[:, 1].tolist() == [1, 2, 3, 4, 5, 6, 6, 7, 8]


@settings(max_examples=150, deadline=None)
@given(
    sizes=st.lists(st.lists(st.integers(1, 4), max_size=40), min_size=1, max_size=4),
    size=st.integers(3, 30),
    context=st.integers(0, 9),
)
def test_every_word_is_read_in_its_context(sizes, size, context):
    sentences = number_words(sizes)
    ids, mask, places, _, of = rows_of(sentences, size=size, context=context)
    assert sorted(set(of.tolist())) == list(range(len(sentences)))
    assert ids.shape[1] <= size
    assert (ids > 0).tolist() == mask.tolist()
    assert (ids[:, 0] == FIRST).all()
    lengths = mask.sum(axis=1)
    assert (ids[np.arange(len(ids)), lengths - 1] == LAST).all()
    words = [(words, k) for words in sentences for k in range(len(words))]
    assert len(places) == len(words)
    need = min(context, (size - 2) // 4)
    for (row, column), (sentence, k) in zip(places, words, strict=True):
        flat = [piece for word in sentence for piece in word]
        at = flat.index(sentence[k][0])
        shown = ids[row, 1 : lengths[row] - 1].tolist()
        start = flat.index(shown[0])
        # A window is a run of the sentence, and the word stands in it where it should.
        assert shown == flat[start : start + len(shown)]
        assert shown[column - 1] == sentence[k][0]
        assert column - 1 >= min(need, at)
        assert len(shown) - column >= min(need, len(flat) - at - 1)
    # No more rows than the windows need.
    room = size - 2
    stride = room - 2 * need
    totals = [sum(len(word) for word in words) for words in sentences]
    assert len(ids) == sum(1 + max(0, -(-(total - room) // stride)) for total in totals)


@pytest.mark.parametrize("others", [[], [[1] * 3], [[2] * 30, []]])
def test_other_sentences_do_not_matter(others):
    sentence, *rest = number_words([[3, 1, 1, 2] * 9, *others])
    alone = rows_of([sentence], size=12, context=2)
    together = rows_of([sentence, *rest], size=12, context=2)
    count, width = alone[0].shape
    np.testing.assert_array_equal(together[0][:count, :width], alone[0])
    np.testing.assert_array_equal(together[2][: len(alone[2])], alone[2])


def test_no_sentences():
    rows = subword_rows(tf.zeros([0, 1, 1], tf.int32), size=9, first_id=FIRST, last_id=LAST)
    assert rows.ids.shape[0] == rows.mask.shape[0] == rows.places.shape[0] == 0


def test_in_a_graph_of_unknown_shapes():
    run = graph_function([tf.TensorSpec([None, None, None], tf.int32)])(
        lambda x: subword_rows(x, size=12, first_id=FIRST, last_id=LAST, context=2)
    )
    for sizes in ([[1, 2], [4]], [[2] * 20], [[], [1]]):
        sentences = number_words(sizes)
        expected = rows_of(sentences, size=12, context=2)
        for value, other in zip(run(as_array(sentences)), expected, strict=True):
            np.testing.assert_array_equal(value, other)
