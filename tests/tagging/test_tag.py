"""``uanet_tf.tag``: a text, texts, or lists of words."""

import pytest

import uanet_lite.tagged_sentence
import uanet_tf
from tests.tagging.fake_model import FakeModel
from uanet_tf.errors import InputError
from uanet_tf.tagging.entity import Entity, entity_confidence
from uanet_tf.tagging.tagged_sentence import TaggedSentences

TEXT = "p0 met X2. Nobody left!"


@pytest.fixture
def model():
    return FakeModel()


def test_a_text_gives_its_sentences(model):
    first, second = tagged = uanet_tf.tag(model, TEXT)
    assert isinstance(tagged, TaggedSentences)
    assert first.tokens == ["p0", "met", "X2", "."]
    assert second.tokens == ["Nobody", "left", "!"]
    assert first.text == second.text == TEXT
    (entity,) = second.entities[:1]
    assert TEXT[entity.start : entity.end] == entity.text == "Nobody"
    assert (entity.start, entity.token_start, entity.token_end) == (11, 0, 1)


def test_a_text_as_one_sentence(model):
    (one,) = uanet_tf.tag(model, TEXT, split=False)
    assert len(one) == 7


def test_texts_give_a_list_each(model):
    found = uanet_tf.tag(model, [TEXT, "", "l1.", " \n"])
    assert [len(sentences) for sentences in found] == [2, 0, 1, 0]
    assert found[2][0].labels == ["B-LOC", "O"]
    assert uanet_tf.tag(model, (text for text in ["p0"]))[0][0].labels == ["B-PER"]
    assert uanet_tf.tag(model, []) == []
    assert uanet_tf.tag(model, "") == []


def test_words_stay_as_they_are(model):
    (sentence,) = uanet_tf.tag(model, [["p0.", "X 2"]])
    assert sentence.tokens == ["p0.", "X 2"]
    assert sentence.text == "p0. X 2"


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (3, "sentences must be a text or a list. Received: 3"),
        (["p0", ["X2"]], r"sentences\[1\] must be a text, as sentences\[0\] is"),
        ([["p0"], "X2"], r"sentences\[1\] must be a list of words"),
        ([[]], r"sentences\[0\] is empty"),
        ([3], "must be a list of words"),
        ([None], r"sentences\[0\] must be a list of words. Received: None"),
    ],
)
def test_what_is_refused(model, sentences, message):
    with pytest.raises(InputError, match=message):
        uanet_tf.tag(model, sentences)


def test_an_entity_is_the_same_everywhere():
    fields = ("text", "type", "start", "end", "token_start", "token_end", "confidence")
    assert Entity._fields == (*fields, "uncertainty", "accepted", "mutual_information")
    assert uanet_lite.tagged_sentence.Entity._fields == Entity._fields
    assert entity_confidence([0.9, 0.4, 0.7]) == 0.4
    entity = Entity("a", "PER", 0, 1, 0, 1, 0.12345678, 1.23456789)
    assert list(entity.to_dict()) == [*fields, "uncertainty"]  # of a run without a target
    values = entity._replace(accepted=True, mutual_information=0.5).to_dict()
    assert list(values) == list(Entity._fields)
    assert (values["confidence"], values["uncertainty"]) == (0.123457, 1.234568)
