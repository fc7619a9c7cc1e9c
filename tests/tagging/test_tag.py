"""``uanet_tf.tag``: a text, texts, or lists of words."""

import operator

import numpy as np
import pytest
import tensorflow as tf

import uanet_tf
from tests.tagging.fake_model import FakeModel
from uanet_lite.tagged_sentence import Entity, TaggedSentences
from uanet_tf.errors import InputError

TEXT = "p0 met X2. Nobody left!"


@pytest.fixture
def model():
    return FakeModel()


def test_a_text_gives_its_sentences(model):
    first, second = tagged = uanet_tf.tag(model, TEXT, split_sentences=True)
    assert isinstance(tagged, TaggedSentences)
    assert first.tokens == ["p0", "met", "X2", "."]
    assert second.tokens == ["Nobody", "left", "!"]
    assert first.source_text == second.source_text == TEXT
    assert TEXT.split("! ")[0].startswith(first.text)
    assert (first.text, second.text) == (TEXT[first.starts[0] : first.ends[-1]], "Nobody left!")
    (entity,) = second.entities[:1]
    assert TEXT[entity.start : entity.end] == entity.text == "Nobody"
    assert (entity.start, entity.token_start, entity.token_end) == (11, 0, 1)


def test_a_text_as_one_sentence(model):
    (one,) = uanet_tf.tag(model, TEXT)
    assert len(one) == 7


def test_texts_and_lists_of_words_in_any_mixture(model):
    found = uanet_tf.tag(model, [TEXT, ["p0."], "", "l1."])
    assert isinstance(found, TaggedSentences)
    assert [len(sentence) for sentence in found] == [7, 1, 0, 2]
    assert list(uanet_tf.tag_stream(model, [TEXT, ["p0."], "", "l1."])) == list(found)


def test_texts_give_a_list_each(model):
    found = uanet_tf.tag(model, [TEXT, "", "l1.", " \n", ["p0."]], split_sentences=True)
    assert [len(sentences) for sentences in found] == [2, 0, 1, 0, 1]
    assert found[2][0].labels == ["B-LOC", "O"]
    assert uanet_tf.tag(model, (text for text in ["p0"]))[0].labels == ["B-PER"]
    assert uanet_tf.tag(model, []) == []
    assert uanet_tf.tag(model, [], split_sentences=True) == []
    assert uanet_tf.tag(model, "", split_sentences=True) == []
    assert [len(sentence) for sentence in uanet_tf.tag(model, "")] == [0]


def test_words_stay_as_they_are(model):
    (sentence,) = uanet_tf.tag(model, [["p0.", "X 2"]])
    assert sentence.tokens == ["p0.", "X 2"]
    assert sentence.text == "p0. X 2"


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (3, "sentences must be a text, or a list of texts and lists of words. Received: 3"),
        (["p0", 3], r"sentences\[1\] must be a text or a list of words. Received: 3"),
        ([["p0"], b"X2"], r"sentences\[1\] must be a text or a list of words. Received: b'X2'"),
        ([["a"], []], r"sentences\[1\] is empty"),
        ([["a", ""]], r"sentences\[0\]\[1\] must be a string .*Received: ''"),
        ([["a", b"b"]], r"sentences\[0\]\[1\] must be a string .*Received: b'b'"),
        ([["a", None]], r"sentences\[0\]\[1\] must be a string .*Received: None"),
        ([["a", "x" * 5000]], r"sentences\[0\]\[1\] has 5,000 characters .*; the limit is 1,000"),
        ([None], r"sentences\[0\] must be a text or a list of words. Received: None"),
        ({"p0": ["X2"]}, r"lists of words\. Received: {'p0': \['X2'\]}"),
        ({"p0"}, r"lists of words\. Received: {'p0'}"),
        ([{"p0": 1}], r"sentences\[0\] must be a text or a list of words. Received: {'p0': 1}"),
        ([{"p0"}], r"sentences\[0\] must be a text or a list of words. Received: {'p0'}"),
        ([np.array("p0")], r"sentences\[0\] must be a text or a list of words"),
        (tf.constant(["p0 X2"]), "and lists of words, not a tensor"),
        (tf.constant("p0 X2"), "and lists of words, not a tensor"),
        ("p0 \ud83d b", "^sentences is not valid Unicode text: '.ud83d' at character 3"),
        (["p0", "\ud83d"], r"^sentences\[1\] is not valid Unicode text"),
        ([["p0", "\ud83d"]], r"^sentences\[0\]\[1\] is not valid Unicode text"),
    ],
)
def test_what_is_refused(model, sentences, message):
    with pytest.raises(InputError, match=message):
        uanet_tf.tag(model, sentences)


class Table:
    """As a DataFrame of pandas: an iterator over it gives the names of its columns."""

    columns = ("text", "label")
    ndim = 2

    def __iter__(self):
        return iter(self.columns)


def test_names_of_columns_are_not_tagged(model):
    with pytest.raises(InputError, match=r"of a table, one column\. Received: a Table$"):
        uanet_tf.tag(model, Table())
    with pytest.raises(InputError, match="Received: a Table"):
        uanet_tf.tag_stream(model, Table())


def test_half_a_character_is_refused_split_too(model):
    with pytest.raises(InputError, match=r"^sentences is not valid Unicode text"):
        uanet_tf.tag(model, "a \ud83d b", split_sentences=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 1.5}, r"^`batch_size` must be an integer\. Received: 1\.5$"),
        ({"batch_size": "4"}, "^`batch_size` must be an integer"),
        ({"batch_size": 0}, "^`batch_size` must be at least 1"),
        ({"batch_tokens": True}, "^`batch_tokens` must be an integer"),
        ({"language": None}, r'^`language` must be a code such as "en"\. Received: None$'),
    ],
)
@pytest.mark.parametrize("sentences", ["p0.", [["p0"]], []])
def test_options_that_are_refused(model, sentences, options, message):
    with pytest.raises(InputError, match=message):
        uanet_tf.tag(model, sentences, **options)


@pytest.mark.parametrize("given", ["runs/u", None, FakeModel])
@pytest.mark.parametrize("tag", [uanet_tf.tag, uanet_tf.tag_stream])
def test_a_path_is_no_model(tag, given):
    with pytest.raises(InputError, match=r"^model must be a loaded model, as uanet_tf\.load"):
        tag(given, [["p0"]])


def test_lists_made_of_tagged_sentences_show_themselves_too(model):
    tagged = uanet_tf.tag(model, [["p0"], ["X2"]])
    pairs = [(tagged, tagged), (tagged, list(tagged)), (list(tagged), tagged)]
    others = [operator.add(*pair) for pair in pairs]
    for other in (*others, 2 * tagged, tagged * 2):
        assert type(other) is TaggedSentences
        assert list(other) == [*tagged, *tagged]
    copied = tagged.copy()
    assert type(copied) is TaggedSentences
    assert copied == tagged
    assert copied is not tagged
    for pair in ((tagged, 5), ((1,), tagged)):
        with pytest.raises(TypeError):
            operator.add(*pair)


def test_an_entity_is_the_same_everywhere():
    fields = ("text", "type", "start", "end", "token_start", "token_end", "confidence")
    assert Entity._fields == (*fields, "uncertainty", "accepted", "mutual_information")
    entity = Entity("a", "PER", 0, 1, 0, 1, 0.12345678, 1.23456789)
    assert list(entity.to_dict()) == [*fields, "uncertainty"]  # of a run without a target
    values = entity._replace(accepted=True, mutual_information=0.5).to_dict()
    assert list(values) == list(Entity._fields)
    assert (values["confidence"], values["uncertainty"]) == (0.123457, 1.234568)
