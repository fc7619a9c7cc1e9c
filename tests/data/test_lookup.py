import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

from tests.tiny_encoder import tiny_encoder
from uanet_tf.config import Config
from uanet_tf.data.lookup import SubwordLookup, TokenLookup, look_up, make_lookup
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.representation.transformer.pretrained_encoder import read_pretrained

VOCABULARY = Vocabulary(("oslo", "in"), (2, 1), tuple("oslin"), ("O",), None)


@pytest.fixture(scope="module")
def with_encoder():
    return dataclasses.replace(VOCABULARY, pretrained=read_pretrained(tiny_encoder()).spec)


def test_words_and_characters_by_the_settings():
    data = Config().replace(lowercase_words=True, max_chars=2).data
    lookup = make_lookup(data, VOCABULARY)
    assert isinstance(lookup, TokenLookup)
    word_ids, char_ids = lookup(tf.constant(["OSLO"]))
    assert word_ids.numpy().tolist() == [2]
    assert char_ids.shape == [1, 2]


def test_sub_words_by_the_encoder(with_encoder):
    """Its tokenizer has rules of its own: settings for words do not touch it."""
    data = Config().replace(normalize_digits=True, max_chars=2).data
    for lowercase in (True, False):
        tokenizer = with_encoder.pretrained.tokenizer
        steps = (("clean",), ("lower",)) if lowercase else (("clean",),)
        tokenizer = dataclasses.replace(tokenizer, steps=steps)
        spec = dataclasses.replace(with_encoder.pretrained, tokenizer=tokenizer)
        lookup = make_lookup(data, dataclasses.replace(with_encoder, pretrained=spec))
        assert isinstance(lookup, SubwordLookup)
        ids = lookup(tf.constant(["Oslo", "19", "00"])).numpy() - 1
        assert (tokenizer.vocabulary[ids[0, 0]] == "oslo") == lowercase
        assert (ids[1] != ids[2]).any()


@pytest.mark.parametrize("has_encoder", [False, True])
def test_each_distinct_token_is_looked_up_once(with_encoder, has_encoder):
    lookup = make_lookup(Config().data, with_encoder if has_encoder else VOCABULARY)
    tokens = np.array([["oslo", "in", "oslo"], ["in", "garbage", "more"]], object)
    features = look_up(lookup, tf.constant(tokens), tf.constant([3, 1], tf.int64))
    assert features["lengths"].numpy().tolist() == [3, 1]
    index = features["form_index"].numpy()
    assert index.max() == 2  # "", oslo, in: padding is not looked at
    assert index.tolist() == [[1, 2, 1], [2, 0, 0]]
    expected = lookup.form_features(tf.constant(["", "oslo", "in"]))
    assert set(features) == {*expected, "form_index", "lengths"}
    for name, values in expected.items():
        np.testing.assert_array_equal(features[name][:3], values)
        # Filled up with padding, see ``filled_size``.
        assert len(features[name]) == 8
        np.testing.assert_array_equal(features[name][3:], [values[0]] * 5)


def test_nothing_to_look_up(with_encoder):
    for vocabulary in (VOCABULARY, with_encoder):
        lookup = make_lookup(Config().data, vocabulary)
        features = look_up(lookup, tf.zeros([2, 0], tf.string), tf.constant([0, 0]))
        assert features["form_index"].shape == [2, 1]


@pytest.mark.parametrize(("length", "message"), [(3, "beyond the width"), (-1, "negative")])
def test_lengths_are_checked(length, message):
    lookup = make_lookup(Config().data, VOCABULARY)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        look_up(lookup, tf.constant([["oslo", "in"]]), tf.constant([length]))


def test_a_vocabulary_keeps_its_encoder(with_encoder):
    assert Vocabulary.from_dict(json.loads(with_encoder.to_json())) == with_encoder
    assert "pretrained" not in VOCABULARY.to_dict()
