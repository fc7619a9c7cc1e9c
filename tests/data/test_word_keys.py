import pytest
import tensorflow as tf

from uanet_tf.data.lookup import document_features, in_document, word_keys


def same(left, right):
    keys = word_keys(tf.constant([left, right]))
    return tuple(bool(key[0] == key[1]) for key in keys.values())


@pytest.mark.parametrize(
    ("left", "right", "word", "prefix"),
    [
        ("Kosovo", "Kosovo", True, True),
        ("Kosovo", "Kosovu", False, True),
        ("Kosovo", "KOSOVU", False, True),
        ("Čačak", "ČAČKU", False, False),
        ("Čačak", "čačakom", False, True),
        ("东京都大学院生", "东京都大学院", False, True),
        ("in", "In", False, True),
        ("in", "inn", False, False),
        ("", "a", False, False),
    ],
)
def test_words_that_are_mentions_of_one_another(left, right, word, prefix):
    assert same(left, right) == (word, prefix)


def test_documents_keep_keys_apart():
    keys = word_keys(tf.constant([["a", "b"], ["a", "b"], ["a", "c"]]))["word_keys"]
    found = in_document(keys, tf.constant([[1], [1], [-2]])).numpy()
    assert found[0].tolist() == found[1].tolist()
    assert len(set(found.ravel().tolist())) == 4
    assert (found[2] != found[0]).all()


def test_features_have_at_least_one_column():
    features = document_features(tf.zeros([2, 0], tf.string), tf.constant([3, 4]))
    assert features["document"].numpy().tolist() == [3, 4]
    assert features["word_keys"].shape == features["prefix_keys"].shape == [2, 1]
