"""Ranking sentences for annotation, and handing them to annotation tools."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.records import handed_to
from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.evaluation import ranking
from uanet_tf.evaluation.ranking import rank
from uanet_tf.formats.annotated_text import SUGGESTED, Mark
from uanet_tf.formats.suggestions import name_and_meta, suggested
from uanet_tf.formats.table import TOOLS, write_annotations


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
    sentences = list(enumerate([LONG, empty, SHORT, PEAK]))
    ranked = rank(sentences, by, 10)
    assert all(sentences[item.origin][1] is item.sentence for item in ranked)
    assert [item.sentence for item in ranked] == [sentence for _, sentence in scores]
    assert [item.score for item in ranked] == pytest.approx([score for score, _ in scores])
    assert rank(sentences, by, 1) == ranked[:1]


def test_near_duplicates_are_passed_over():
    texts = ["Riverton beat Marlow today", "riverton beat Marlow TODAY .", "Riverton lost"]
    sentences = [
        (k, tagged(text, [0.5 - 0.1 * k] * len(text.split()))) for k, text in enumerate(texts)
    ]
    found = [" ".join(item.sentence.tokens) for item in rank(sentences, "mean", 3, diverse=True)]
    assert found == [texts[0], texts[2]]
    assert len(rank(sentences, "mean", 3)) == 3
    assert [i.sentence.tokens[1] for i in rank(sentences, "mean", 2, diverse=True)] == [
        "beat",
        "lost",
    ]


def test_exact_duplicates_are_one_candidate():
    copies = [(k, tagged("Rain", [0.5])) for k in range(100)]
    others = [(100, tagged("Ann", [0.4])), (101, tagged("rain", [0.6])), (102, tagged("Bo", [0.4]))]
    found = rank([*copies, *others, *copies], "mean", 3, diverse=True)
    assert [item.origin for item in found] == [101, 100, 102]


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 3)), max_size=60))
def test_few_are_kept_and_the_best_of_each_found(pairs):
    sentences = [(k, tagged(word, [float(value)])) for k, (word, value) in enumerate(pairs)]
    best = {}
    for k, (word, value) in enumerate(pairs):
        if word not in best or pairs[best[word]][1] < value:
            best[word] = k
    expected = sorted(best.values(), key=lambda k: (-pairs[k][1], k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_SPARE", 1)
        found = rank(sentences, "mean", 3, diverse=True)
    assert [item.origin for item in found] == expected[:3]


def test_names_and_what_belongs_to_a_sentence_fit_every_tool():
    fields = {"text": "x", "tokens": ["x"], "id": 7, "label": "a", "label_": 1, "input_line": "b"}
    fields |= {"score": [1], "source": {"page": 3}}
    name, meta = name_and_meta(fields, 5)
    assert name == 7
    assert meta == {
        "input_line": 5,
        "label_": "a",
        "label__": 1,
        "input_line_": "b",
        "score_": [1],
        "source": {"page": 3},
    }
    assert name_and_meta({"id": "a"}, 5, 2) == ("a-2", {"input_line": 5, "input_id": "a"})
    assert name_and_meta({"id": [1]}, 5, 2) == (None, {"input_line": 5, "id_": [1]})
    item = suggested(tagged("x", [0.5]), 0.5, name, meta)
    for tool in TOOLS:
        stream = io.StringIO()
        write_annotations([item], stream, tool)
        ((_, score, _, given, found),) = handed_to(tool, stream.getvalue())
        assert (score, str(given), found) == (0.5, "7", meta)


def test_a_sentence_of_a_longer_text_is_taken_by_itself():
    text = "Nobody won. Ada Lee sang."
    sentence = tagged(
        "Ada Lee sang .",
        [0.1] * 4,
        [0.9, 0.8, 1.0, 1.0],
        ["B-PER", "I-PER", "O", "O"],
        source_text=text,
        starts=[12, 16, 20, 24],
        ends=[15, 19, 24, 25],
    )
    item = suggested(sentence, 0.1234567)
    assert (item.text, item.status, item.score) == ("Ada Lee sang.", SUGGESTED, 0.123457)
    assert item.marks == (Mark(0, 7, "PER", 0.8),)
    assert item.tokens == ((0, 3), (4, 7), (8, 12), (12, 13))
