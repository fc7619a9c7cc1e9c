"""Sentences as arrays, and what is refused."""

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from uanet_tf.data.lookup import check_predict_input
from uanet_tf.errors import InputError


@pytest.mark.parametrize(
    "sentences",
    [
        [["a", "b"], ["c"]],
        (("a", "b"), ("c",)),
        [np.array(["a", "b"]), np.array(["c"], object)],
        (words for words in (["a", "b"], ["c"])),
    ],
)
def test_rows_are_filled_up(sentences):
    padded = uanet_tf.pad(sentences)
    assert padded["tokens"].tolist() == [["a", "b"], ["c", ""]]
    assert padded["lengths"].tolist() == [2, 1]
    assert padded["lengths"].dtype == np.int32


def test_an_array_of_sentences():
    padded = uanet_tf.pad(np.array([["a", "b"], ["c", "d"]]))
    assert padded["tokens"].tolist() == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (None, r"^sentences must be a list of lists of words\. Received: None$"),
        (5, r"^sentences must be a list of lists of words\. Received: 5$"),
        ({"a": ["b"]}, "^sentences must be a list of lists of words"),
        ({("a",)}, "^sentences must be a list of lists of words"),
        (["ab"], r"^sentences\[0\] must be a list of words"),
        ([["a"], {"b"}], r"^sentences\[1\] must be a list of words"),
        (np.array(["a", "b"]), r"^sentences\[0\] must be a list of words"),
        (np.array([[1, 2]]), r"^sentences\[0\] must be a list of words"),
        (np.array([[["a"]]]), r"^sentences\[0\] must be a list of words"),
        ([["a", "\ud83d"]], r"^sentences\[0\]\[1\] is not valid Unicode text"),
    ],
)
def test_what_is_refused(sentences, message):
    with pytest.raises(InputError, match=message):
        uanet_tf.pad(sentences)


@pytest.mark.parametrize("as_tensor", [False, True])
def test_lengths_that_are_no_integers_are_refused(as_tensor):
    padded = uanet_tf.pad([["a", "b"]])
    for change in (lambda x: x - 0.1, lambda x: x.astype(np.float32), lambda x: x > 0):
        lengths = change(padded["lengths"])
        given = {**padded, "lengths": tf.constant(lengths) if as_tensor else lengths}
        with pytest.raises(InputError, match=r"^lengths must be integers\. Received: an array of "):
            check_predict_input(given)
    for kind in (np.int32, np.int64, np.uint8):
        check_predict_input({**padded, "lengths": padded["lengths"].astype(kind)})
