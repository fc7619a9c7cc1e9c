"""Equal to the layer that models are trained with, on every character and in context."""

import random

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.test_token_lookup import CHARS, MAX_CHARS, WORDS
from uanet_lite import token_ids
from uanet_tf.data.lookup import TokenLookup, normalize_words

EVERY = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
# What makes lower case depend on its neighbours, and what Python and TensorFlow know otherwise.
IN_CONTEXT = "ΣΣΣaBĉςσ'’.-·:1٣東ßIİĮÌJ\u0301\u0307\u0345\u00ad\u200d\u2c2f\ua7c0\ua7c2\U00010570"
PAIRS = {
    (digits, lower): (
        TokenLookup(
            WORDS, CHARS, normalize_digits=digits, lowercase_words=lower, max_chars=MAX_CHARS
        ),
        token_ids.TokenLookup(WORDS, CHARS, digits=digits, lowercase=lower, max_chars=MAX_CHARS),
    )
    for digits in (False, True)
    for lower in (False, True)
}


def in_graph(texts, **options):
    options = {"digits": False, "lowercase": False, **options}
    return [text.decode() for text in normalize_words(tf.constant(texts), **options).numpy()]


def test_every_character():
    assert [token_ids.normalize_digits(c) for c in EVERY] == in_graph(EVERY, digits=True)
    assert [token_ids.lower(c) for c in EVERY] == in_graph(EVERY, lowercase=True)


def test_characters_in_context():
    rng = random.Random(1)
    texts = ["".join(rng.choices(IN_CONTEXT, k=rng.randint(2, 7))) for _ in range(20_000)]
    expected = in_graph(texts, digits=True, lowercase=True)
    found = [token_ids.lower(token_ids.normalize_digits(text)) for text in texts]
    assert found == expected
    assert sum("ς" in text for text in found) > 1000


def test_letters_that_are_kept_stay_where_they_are():
    assert token_ids.lower("A\u2c2fB\U0010ffff\U00010570C\u2c2f") == (
        "a\u2c2fb\U0010ffff\U00010570c\u2c2f"
    )


@settings(max_examples=150, deadline=None)
@given(
    tokens=st.lists(
        st.sampled_from([*WORDS, "THE", "12", "Naïve", "ΔΣ", "", "x" * 50])
        | st.text(st.characters(exclude_categories=["Cs", "Cn", "Co"]), max_size=12),
        min_size=1,
        max_size=5,
    ),
    options=st.sampled_from(sorted(PAIRS)),
)
def test_ids(tokens, options):
    layer, lookup = PAIRS[options]
    for actual, expected in zip(lookup(tokens), layer(tf.constant(tokens)), strict=True):
        np.testing.assert_array_equal(actual, expected)
        assert actual.dtype == np.int32


@pytest.mark.parametrize("length", [MAX_CHARS - 1, MAX_CHARS, MAX_CHARS + 1, 5000])
def test_a_long_word_keeps_its_two_ends(length):
    tokens = [("abcdefghij" * 500)[:length], "the"]
    layer, lookup = PAIRS[False, False]
    for actual, expected in zip(lookup(tokens), layer(tf.constant(tokens)), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_no_tokens():
    word_ids, char_ids = PAIRS[True, True][1]([])
    assert (word_ids.shape, char_ids.shape) == ((0,), (0, 1))
