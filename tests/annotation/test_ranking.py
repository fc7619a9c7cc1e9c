"""Ranking sentences for annotation, and handing them to annotation tools."""

import pytest

from uanet_tf.annotation.annotated_text import SUGGESTED, Mark
from uanet_tf.annotation.ranking import rank
from uanet_tf.annotation.suggestions import suggested
from uanet_tf.tagging.tagged_sentence import TaggedSentence


def tagged(words, uncertainty, confidence=None, labels=None, **options):
    tokens = words.split()
    labels = labels or ["O"] * len(tokens)
    confidence = confidence or [1.0] * len(tokens)
    refined = [False] * len(tokens)
    return TaggedSentence(
        tokens, labels, labels, labels, uncertainty, confidence, refined, "IOB2", **options
    )


SHORT = tagged("a b", [0.4, 0.4], [0.6, 0.6], mutual_information=[0.0, 0.2])
LONG = tagged("c d e f", [0.3] * 4, [0.9] * 4, mutual_information=[0.0] * 4)
PEAK = tagged("g h i", [0.0, 0.9, 0.0], [0.99, 0.3, 0.99], mutual_information=[0.0, 0.6, 0.0])


@pytest.mark.parametrize(
    ("by", "scores"),
    [
        ("mean", [(0.4, SHORT), (0.3, LONG), (0.3, PEAK)]),
        ("sum", [(1.2, LONG), (0.9, PEAK), (0.8, SHORT)]),
        ("max", [(0.9, PEAK), (0.4, SHORT), (0.3, LONG)]),
        ("least_confidence", [(0.7, PEAK), (0.4, SHORT), (0.1, LONG)]),
        ("mutual_information", [(0.2, PEAK), (0.1, SHORT), (0.0, LONG)]),
    ],
)
def test_scores(by, scores):
    empty = tagged("", [])
    ranked = rank([LONG, empty, SHORT, PEAK], by, 10)
    assert [item.sentence for item in ranked] == [sentence for _, sentence in scores]
    assert [item.score for item in ranked] == pytest.approx([score for score, _ in scores])
    assert rank([LONG, empty, SHORT, PEAK], by, 1) == ranked[:1]


def test_near_duplicates_are_passed_over():
    texts = ["Riverton beat Marlow today", "riverton beat Marlow TODAY .", "Riverton lost"]
    sentences = [tagged(text, [0.5 - 0.1 * k] * len(text.split())) for k, text in enumerate(texts)]
    found = [" ".join(item.sentence.tokens) for item in rank(sentences, "mean", 3, diverse=True)]
    assert found == [texts[0], texts[2]]
    assert len(rank(sentences, "mean", 3)) == 3
    assert [i.sentence.tokens[1] for i in rank(sentences, "mean", 2, diverse=True)] == [
        "beat",
        "lost",
    ]


def test_a_sentence_of_a_longer_text_is_taken_by_itself():
    text = "Nobody won. Ada Lee sang."
    sentence = tagged(
        "Ada Lee sang .",
        [0.1] * 4,
        [0.9, 0.8, 1.0, 1.0],
        ["B-PER", "I-PER", "O", "O"],
        text=text,
        starts=[12, 16, 20, 24],
        ends=[15, 19, 24, 25],
    )
    item = suggested(sentence, 0.1234567)
    assert (item.text, item.status, item.score) == ("Ada Lee sang.", SUGGESTED, 0.123457)
    assert item.marks == (Mark(0, 7, "PER", 0.8),)
    assert item.tokens == ((0, 3), (4, 7), (8, 12), (12, 13))
