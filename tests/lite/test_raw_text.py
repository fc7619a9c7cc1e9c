"""Sentences of a text, with places in the whole of it."""

import sys

import pytest

from uanet_lite.raw_text import sentence_spans, text_sentences
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError

TEXT = (
    "Mr. Lee met J. Doe in the U.S. Congress at 3.5 p.m. on Monday! Did he? Yes.\nNew line\n\nEnd."
)


def parts(text, language="en"):
    return [text[start:end].strip() for start, end in sentence_spans(text, language)]


def test_sentences():
    assert [part for part in parts(TEXT) if part] == [
        "Mr. Lee met J. Doe in the U.S. Congress at 3.5 p.m. on Monday!",
        "Did he?",
        "Yes.",
        "New line",
        "End.",
    ]
    assert parts("Osuđen je 14. marta 2005. godine. Da!", "sr") == [
        "Osuđen je 14. marta 2005. godine.",
        "Da!",
    ]


@pytest.mark.parametrize(
    "sentences",
    [
        ['He said: "I saw. ', 'He left." ', "Then more. ", "Done."],
        ['A 5" pipe broke. ', "It was bad. ", "Done."],  # opens, and never closes
        ['"Is it?" he asked. ', '"Go!", she said. ', "„Ja.“ ", "Er ging."],
        ['The "U.S. Steel" of "Mr. X" rose. ', '"Yes." ', '"Never." ', '"'],
        ['"A."', "\n\n", '"B."'],
    ],
)
def test_sentences_within_quotation_marks(sentences):
    text = "".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["One is. ", "1) Two is. ", "Three is. ", "2) Four is. ", "Five is. ", "Six is."],
        ["Lists:\n", "- One is. ", "Two is.\n", "- Three is. ", "Four is."],
    ],
)
def test_sentences_within_a_list(sentences):
    text = "".join(sentences)
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


def test_abbreviations_of_the_corpus():
    text = "Pripadnici tzv. Alfe, Mr. X i so. Bili su u Corp. The end."
    known = Tokenizer("ptb", ("tzv.", "Corp.", "Mr."))
    assert [" ".join(each.tokens) for each in text_sentences(text, known)] == [
        "Pripadnici tzv. Alfe , Mr. X i so .",
        "Bili su u Corp.",  # the splitter knows it, and that "The" begins a sentence
        "The end .",
    ]
    assert len(text_sentences(text, Tokenizer("ptb"))) == 4


@pytest.mark.parametrize(
    "text",
    [TEXT, "", " ", "\n\n", "a\r\nb. C\u2028d.  E\n", "é 😀. Ä!", '"', 'A." ', '."".', '. "." .'],
)
def test_nothing_is_lost(text):
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert [start for start, _ in spans[1:]] == [end for _, end in spans[:-1]]


def test_tokens_stand_in_the_whole_text():
    sentences = text_sentences(TEXT, Tokenizer("ptb", ("Mr.",)))
    assert [len(sentence.tokens) for sentence in sentences] == [15, 3, 2, 2, 2]  # "J."
    assert [sentence.new_document for sentence in sentences] == [True, False, False, False, False]
    for sentence in sentences:
        places = zip(sentence.starts, sentence.ends, strict=True)
        assert [TEXT[start:end] for start, end in places] == sentence.tokens


def test_one_sentence():
    (sentence,) = text_sentences("One. Two.", Tokenizer(), split=False)
    assert sentence.tokens == ["One", ".", "Two", "."]
    assert text_sentences(" \n", Tokenizer()) == []


def test_a_missing_splitter_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(InputError, match="needs the package sentencex"):
        text_sentences("a", Tokenizer())
    assert len(text_sentences("a. b", Tokenizer(), split=False)) == 1
