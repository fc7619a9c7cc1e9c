import dataclasses
import json
import sys
import unicodedata
from itertools import product

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.wordpiece_transcription import tokenize
from tests.tiny_encoder import SUBWORDS
from uanet_tf.data.encoder_spec import TokenizerSpec
from uanet_tf.data.subword_lookup import SubwordLookup, read_charsmap
from uanet_tf.errors import InputError

# With letters that lower-casing and accents change, and a sub-word for many a character.
VOCABULARY = (
    *SUBWORDS,
    *"éÉñßİσςΣÅå",
    "##é",
    "##ß",
    "Oslo",
    "##東",
    "▁",
    "##+",
    "+",
    "ı",
    "##̈",
    "##σ",
    "##ς",
)
UNKNOWN = VOCABULARY.index("[UNK]")
OPTIONS = [
    {"lowercase": lower, "strip_accents": strip, "split_chinese": chinese}
    for lower, strip, chinese in product([True, False], repeat=3)
]


def spec_of(vocabulary=VOCABULARY, lowercase=True, strip_accents=True, split_chinese=True):
    steps = {"clean": True, "chinese": split_chinese, "accents": strip_accents, "lower": lowercase}
    names = tuple((name,) for name, done in steps.items() if done)
    return TokenizerSpec("wordpiece", tuple(vocabulary), 2, 3, UNKNOWN, names)


def look_up(tokens, vocabulary=VOCABULARY, max_subwords=32, **options):
    """[ids of the sub-words of each token]."""
    lookup = SubwordLookup(spec_of(vocabulary, **options), max_subwords=max_subwords)
    ids = lookup(tf.constant(tokens, tf.string)).numpy()
    assert ids.dtype == np.int32
    rows = [[number - 1 for number in row if number > 0] for row in ids.tolist()]
    for row, filled in zip(ids, rows, strict=True):
        assert (row[len(filled) :] == 0).all()  # right-padded
    return rows


def reference(token, **options):
    return tokenize(token, VOCABULARY, **options) or [UNKNOWN]


def test_sub_words_of_words():
    found = look_up(["unaffable", "Oslo", "saw", "met.", "qqq"])
    words = [[VOCABULARY[number] for number in row] for row in found]
    assert words == [
        ["un", "##aff", "##able"],
        ["oslo"],
        ["saw"],
        ["met", "."],
        ["q", "##q", "##q"],
    ]


@pytest.mark.parametrize(
    "options",
    [
        OPTIONS[0],
        *(pytest.param(each, marks=pytest.mark.process) for each in (OPTIONS[2], OPTIONS[-1])),
    ],
    ids=str,
)
def test_every_unicode_character_is_read_as_by_the_original(options):
    chars = [
        char
        for char in map(chr, range(1, 0x110000))
        # The two may know of different versions of Unicode.
        if unicodedata.category(char) not in ("Cs", "Cn", "Co")
    ]
    tokens = [f"a{char}b" for char in chars]
    wrong = [
        (hex(ord(char)), found)
        for char, token, found in zip(chars, tokens, look_up(tokens, **options), strict=True)
        if found != reference(token, **options)
    ]
    assert len(chars) > 100_000
    assert not wrong, wrong[:9]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("abOsloéÉßİΣσ東京.-[]#+ \x01\u0301\u200d'0")), min_size=1),
    st.sampled_from(OPTIONS),
)
def test_words_are_read_as_by_the_original(tokens, options):
    expected = [reference(token, **options)[:32] for token in tokens]
    assert look_up(tokens, **options) == expected


@pytest.mark.parametrize(
    "token", ["", "\x01", "\u200e", "\ufffd", " ", "\t", "\u0301", "語", "a" * 101, b"\xff"]
)
def test_a_word_that_nothing_is_left_of_is_unknown(token):
    assert look_up([token]) == [[UNKNOWN]]


def test_names_of_special_sub_words_are_text():
    (found,) = look_up(["[SEP]"])
    assert [VOCABULARY[number] for number in found] == ["[UNK]", "s", "##e", "##p", "[UNK]"]


def test_a_long_word_keeps_its_first_sub_words():
    first, more = VOCABULARY.index("a"), VOCABULARY.index("##a")
    assert look_up(["a" * 100], max_subwords=3) == [[first, more, more]]
    assert len(look_up(["a" * 100])[0]) == 32
    # A hundred characters of four bytes each are no more than a hundred of one.
    assert look_up(["𝟏" * 100]) == look_up(["𝟏"])


def test_bytes_that_are_not_utf_8_are_left_out():
    assert look_up([b"os\xfflo"]) == look_up(["oslo"])


def test_as_wide_as_the_longest():
    lookup = SubwordLookup(spec_of())
    assert lookup(tf.constant(["oslo", "unaffable"])).shape == [2, 3]
    assert lookup(tf.constant(["oslo"])).shape == [1, 1]
    assert lookup(tf.constant([], tf.string)).shape == [0, 1]
    assert list(lookup.form_features(tf.constant(["a"]))) == ["form_subword_ids"]


def test_config():
    tokenizer = spec_of(lowercase=False, split_chinese=False)
    lookup = SubwordLookup(tokenizer, max_subwords=5, name="x")
    copy = SubwordLookup.from_config(json.loads(json.dumps(lookup.get_config())))
    assert copy.get_config() == lookup.get_config()
    assert (copy.name, copy.tokenizer, copy.max_subwords) == ("x", tokenizer, 5)


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"`max_subwords` must be at least 1. Received: max_sub"):
        SubwordLookup(spec_of(), max_subwords=0)
    with pytest.raises(InputError, match="the vocabulary lacks its first, last or unknown"):
        spec_of(["a"])
    odd = dataclasses.replace(spec_of(), kind="bpe")
    with pytest.raises(InputError, match="The vocabulary cannot be used: it lacks a byte"):
        SubwordLookup(odd)


def test_tensorflow_text_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)
    with pytest.raises(
        InputError, match="encoder needs the package tensorflow-text, which cannot be"
    ):
        SubwordLookup(spec_of())


def test_a_map_of_characters_with_circles_is_refused():
    units = np.arange(256, dtype=np.uint32)  # each node is its own parent's beginning again
    trie = (units | units << 10).tobytes()
    with pytest.raises(ValueError, match="damaged: it has circles"):
        read_charsmap(len(trie).to_bytes(4, "little") + trie + b"\0")
