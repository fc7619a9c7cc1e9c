"""The model of raw text: its tokens, where they stand, and their labels."""

import itertools
import random
import unicodedata

import numpy as np
import pytest
import tensorflow as tf

from tests.exporting.conftest import predict
from tests.exporting.fresh_process import CannotBeLoaded
from tests.models.model_contract import assert_same
from uanet_lite.tagged_sentence import Entity
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.exporting.saved_graph import foreign_operations
from uanet_tf.exporting.text_tokens import UNICODE, split_text
from uanet_tf.serving.rest_api.rest_error import RestError
from uanet_tf.tagging.streams import tag

TEXTS = [
    "Riverton beat Marlow 2-1.",
    "The U.S. don't e-mail 3.5 or 1,000.50 at 10:30, see https://a.b/c?d=1!",
    "",
    "東京は🙂 \u2028 नमस्ते (é)",
    " \t\n",
    "Oslo",
    "soft\u00adhyphen \u200bzero \u200fمرحبا\u200e \u2066x\u2069 \ufeffend, 'Lund 'twas the '90s",
]


PTB = Tokenizer("ptb", ("Corp.", "Mr.", "tzv."), ordinals=True)


def words_of(texts, tokenizer=UNICODE):
    tokens, starts, ends = split_text(tf.constant(texts, tf.string), tokenizer)
    words = [[word.decode() for word in row] for row in tokens.to_list()]
    return words, starts.to_list(), ends.to_list()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The U.S. won.", ["The", "U.S", ".", "won", "."]),
        ("don't e-mail", ["don't", "e-mail"]),
        ("3.5% (1,000.50) at 10:30", ["3.5", "%", "(", "1,000.50", ")", "at", "10:30"]),
        ("a,b 1,a a1,2b", ["a", ",", "b", "1", ",", "a", "a1,2b"]),
        ("http://a.b/c", ["http", ":", "/", "/", "a.b", "/", "c"]),
        ("東京は🙂!", ["東京は", "🙂", "!"]),
        ("naïve नमस्ते", ["naïve", "नमस्ते"]),
        ("I ❤️ 👍🏽👩‍👩‍👧🇳🇴🇸🇪.", ["I", "❤️", "👍🏽", "👩‍👩‍👧", "🇳🇴", "🇸🇪", "."]),
        ("x.-y 'z'", ["x", ".", "-", "y", "'", "z", "'"]),
        ("a\u00a0b\u2028c\x1cd", ["a", "b", "c", "d"]),
        (" ", []),
    ],
)
def test_tokens(text, tokens):
    assert words_of([text])[0] == [tokens]


AWKWARD = [
    *["don't", "can't", "n't", "'s", "’ll", ".", "..", "--", "é", "1", "2", "/", ":"],
    *["Mr.", "U.S.", "cannot", "Cannot", "http://", "www.", "a", "B", "@", "#", "x.y", "😀"],
    *["!", "!!", "東", "14.", "'", "’", "-", "$", "½", "٤", "_", "\u0301", "\u200d", "\t"],
    *[" ", "\n", "\x1f", "\xa0"],
]


@pytest.mark.parametrize(
    "tokenizer",
    [PTB, Tokenizer("ptb"), Tokenizer("ptb", marks="@#"), Tokenizer("whitespace"), UNICODE],
)
def test_tokens_and_places_are_those_of_python(tokenizer):
    rng = random.Random(1)
    texts = ["".join(rng.choices(AWKWARD, k=rng.randrange(12))) for _ in range(3_000)]
    words, starts, ends = words_of(texts, tokenizer)
    different = [
        text
        for text, row, first, last in zip(texts, words, starts, ends, strict=True)
        if row != tokenizer.tokenize(text)
        or [*zip(first, last, strict=True)] != tokenizer.spans(text)
    ]
    assert not different, different[:5]


# CJK, Hangul, and characters for private use.
LONG_RUNS = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0xE000, 0xF900))


def test_tokens_are_those_of_tagging_text():
    """Each character at the places where a rule could look at it, and strings of the awkward.

    Of long runs of one kind every 16th.
    """
    symbols = [
        chr(code)
        for code in itertools.chain(range(1, 0x20000), range(0x20000, 0x2EBF0, 16))
        if code % 16 == 0 or not any(code in run for run in LONG_RUNS)
        # A character that is not yet assigned may be in the Unicode of one side alone.
        if unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    texts = [f"a{c}1{c}2 {c}{c}" for c in symbols]
    rng = random.Random(1)
    awkward = "aB1٤9_.,:'’- \t\u200d\u200c\u0301\ufe0f👩🏽🇳🇴é東!½"
    texts += ["".join(rng.choices(awkward, k=rng.randrange(14))) for _ in range(10_000)]
    words, _, _ = words_of(texts)
    different = [
        text for text, row in zip(texts, words, strict=True) if row != UNICODE.tokenize(text)
    ]
    assert not different, different[:5]


def test_offsets_are_characters():
    words, starts, ends = words_of(TEXTS)
    for text, *columns in zip(TEXTS, words, starts, ends, strict=True):
        for word, start, end in zip(*columns, strict=True):
            assert text[start:end] == word


def test_what_follows_a_nul_is_read_too():
    words, starts, ends = words_of(["\0a\0b c\0", "\0"])
    assert words == [["a", "b", "c"], []]
    assert (starts[0], ends[0]) == ([1, 3, 5], [2, 4, 6])


def test_the_same_as_tokens_in_a_fresh_process(with_text, exported, model):
    outputs = with_text.ask(exported.text_path, "serving_default", text=np.array(TEXTS, object))
    assert not with_text.modules & {"uanet_tf", "tensorflow_addons", "keras_nlp"}
    words, starts, ends = words_of(TEXTS)
    lengths = outputs.pop("lengths")
    assert lengths.tolist() == [len(row) for row in words]
    for name, ragged in (("tokens", words), ("starts", starts), ("ends", ends)):
        dense = outputs.pop(name)
        assert dense.shape == (len(TEXTS), max(map(len, words)))
        for row, values in enumerate(ragged):
            assert dense[row, : len(values)].tolist() == values
            assert (dense[row, len(values) :] == ("" if name == "tokens" else 0)).all()
    assert_same(outputs, predict(model, pad(words)))
    assert outputs["refined"].any()


def test_texts_are_a_list(served):
    """A server feeds any shape: rows of texts would be as many texts."""
    for signature in ("serving_default", "entities"):
        for texts in ([[b"a b", b"c"], [b"d", b"e"]], b"a b"):
            with pytest.raises(RestError, match=r"is not compatible with expected shape \[\?\]"):
                served["tiny_text"].predict(signature, {"text": np.array(texts, object)})


@pytest.mark.parametrize("texts", [[], ["", " "]], ids=["no text", "empty texts"])
def test_no_tokens(with_text, exported, texts):
    outputs = with_text.ask(
        exported.text_path, "serving_default", text=np.array([*texts, None], object)[:-1]
    )
    assert outputs.pop("lengths").tolist() == [0] * len(texts)
    assert len(outputs) == 9
    for values in outputs.values():
        assert values.shape == (len(texts), 0)


def test_a_threshold_of_each_text(with_text, exported):
    texts = np.array([*TEXTS[:2], TEXTS[0]], object)
    own = with_text.ask(exported.text_path, "serving_default", text=texts)
    gamma = np.float32([0.0, 50.0, 50.0])
    asked = with_text.ask(exported.text_path, "with_threshold", text=texts, threshold=gamma)
    assert asked["refined"].sum(axis=1).tolist() == [own["lengths"][0], 0, 0]
    np.testing.assert_allclose(asked["uncertainty"], own["uncertainty"], rtol=0, atol=1e-5)


def test_entities_are_those_of_python(with_text, exported, model):
    outputs = with_text.ask(exported.text_path, "entities", text=np.array(TEXTS, object))
    assert set(outputs) == {*Entity._fields, "count"} - {"accepted", "mutual_information"}
    words, starts, ends = words_of(TEXTS)
    model.refine_all = True
    found = 0
    for row, (text, tokens) in enumerate(zip(TEXTS, words, strict=True)):
        expected = tag(model, [tokens])[0].entities if tokens else []
        assert outputs["count"][row] == len(expected)
        for column, entity in enumerate(expected):
            values = {name: outputs[name][row, column] for name in outputs if name != "count"}
            assert (values["token_start"], values["token_end"]) == entity[4:6]
            assert values["start"] == starts[row][entity.token_start]
            assert values["end"] == ends[row][entity.token_end - 1]
            assert values["text"] == text[values["start"] : values["end"]]
            assert values["type"] == entity.type
            assert values["confidence"] == pytest.approx(entity.confidence, abs=1e-5)
            assert values["uncertainty"] == pytest.approx(entity.uncertainty, abs=1e-5)
        for name in ("text", "type", "end", "confidence"):
            assert not outputs[name][row, len(expected) :].any()
        found += len(expected)
    assert found > len(TEXTS)


@pytest.mark.parametrize("texts", [[], ["", " "]], ids=["no text", "empty texts"])
def test_no_entities(with_text, exported, texts):
    outputs = with_text.ask(
        exported.text_path, "entities", text=np.array([*texts, None], object)[:-1]
    )
    assert outputs.pop("count").tolist() == [0] * len(texts)
    assert {values.shape for values in outputs.values()} == {(len(texts), 0)}


def test_only_one_operation_is_not_of_the_core(exported):
    assert foreign_operations(exported.text_path) == {"RegexSplitWithOffsets"}


def test_without_tensorflow_text_it_does_not_load(exported, core):
    """Which is why raw text has a model of its own."""
    with pytest.raises(CannotBeLoaded, match="RegexSplitWithOffsets"):
        core.ask(exported.text_path, "serving_default", text=["a"])
