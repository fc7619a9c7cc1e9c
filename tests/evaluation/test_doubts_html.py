"""The page of labels in doubt."""

import re

import numpy as np
import pytest

from tests.lite.test_sentence_html import Reader
from uanet_lite.sentence import Sentence
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.evaluation import label_errors
from uanet_tf.evaluation.label_errors import doubts_of, doubts_page

CLASSES = ["O", "B-<X>", "I-<X>", "E-<X>", "S-<X>"]


def doubt(tokens, given, predicted, scheme="IOB2"):
    n = len(tokens)
    tagged = TaggedSentence(
        tokens, predicted, predicted, predicted, [0.7] * n, [0.5] * n, [True] * n, scheme,
        probabilities=np.full([n, len(CLASSES)], 0.2), accepted=[True] * n,
    )  # fmt: skip
    sentence = Sentence(tuple(tokens), tuple(given), 12, True)
    (found,) = doubts_of(sentence, tagged, CLASSES, scheme)
    return found


def read(page):
    """The text of the page, without its declaration and elements that are never closed."""
    return Reader(re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", page)).text


def test_both_labels_are_shown_and_everything_is_escaped():
    tokens = ["<script>", "&amp;", "c"]
    page = doubts_page([doubt(tokens, ["B-<X>", "O", "O"], ["B-<X>", "I-<X>", "O"])], "<a>.conll")
    assert "<script" not in page
    text = read(page)
    assert text.count("<script>") == 2
    assert text.count("&amp;") == 2
    assert "Labels in doubt: <a>.conll" in text
    assert "1. mislabelled, line 12: probability of the label in the file 0.2" in text
    assert page.count("<mark>") == 3  # one explains it
    assert '<html lang="en">' in page


def test_the_page_needs_nothing_else():
    page = doubts_page([doubt(["a"], ["O"], ["B-<X>"])], "a")
    assert not re.search(r"https?:|<script|<link|<img|src=|url\(", page)


def test_long_sentences_are_cut_round_the_place():
    tokens = [f"w{k}" for k in range(200)]
    given = ["O"] * 200
    given[58:62] = ["B-<X>", "I-<X>", "I-<X>", "I-<X>"]
    predicted = [*given[:61], "O", *given[62:]]
    predicted[34] = given[34] = "B-<X>"
    text = read(doubts_page([doubt(tokens, given, predicted)], "a"))
    assert "w33" in text
    assert "w32 " not in text
    assert "w86" in text
    assert "w87" not in text
    assert text.count("…") == 4


def test_labels_of_single_tokens():
    text = read(doubts_page([doubt(["a", "b"], ["O", "S-<X>"], ["O", "O"], None)], "a"))
    assert "S-<X>" in text


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (3, 3), (9, 4)])
def test_the_first_are_shown(monkeypatch, count, shown):
    monkeypatch.setattr(label_errors, "MOST", 4)
    page = doubts_page([doubt(["a"], ["O"], ["B-<X>"])] * count, "a")
    assert page.count("<li>") == shown
    assert f"{count} places" in page
    assert ("the first 4" in page) == (count > shown)
