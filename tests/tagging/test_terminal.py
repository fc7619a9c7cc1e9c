import dataclasses
import io
import re

import pytest

from uanet_lite.tagged_sentence import TaggedSentence
from uanet_tf.tagging.terminal import SentencePrinter, can_draw, wants_color
from uanet_tf.text.display_width import display_width

SENTENCE = TaggedSentence(
    tokens=["Chelsea", "beat", "東京", "e\u0301t"],
    labels=["B-ORG", "O", "B-LOC", "O"],
    draft_labels=["B-LOC", "O", "B-LOC", "O"],
    refined_labels=["B-ORG", "O", "B-LOC", "B-ORG"],
    uncertainty=[0.7, 0.0, 0.36, 0.02],
    confidence=[0.9, 1.0, 0.8, 1.0],
    refined=[True, False, True, False],
    scheme="IOB2",
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def test_plain_rendering():
    assert SentencePrinter(0.35).render(SENTENCE).splitlines() == [
        "  [ORG Chelsea] beat [LOC 東京] e\u0301t",
        "",
        "    token    draft  nats           sure  label",
        "  ● Chelsea  B-LOC  0.70 ████      0.90  B-LOC -> B-ORG",
        "    beat     O      0.00           1.00  O",
        "  ● 東京     B-LOC  0.36 ██        0.80  B-LOC",
        "    e\u0301t       O      0.02 ▏         1.00  O",
        "    2 of 4 tokens above 0.35 nats · 1 label changed",
    ]


def test_what_is_not_accepted():
    refused = dataclasses.replace(SENTENCE, accepted=[True, False, False, False])
    lines = SentencePrinter(0.35).render(refused).splitlines()
    assert lines[0] == "  [ORG Chelsea] beat [LOC? 東京] e\u0301t"
    assert [line.split()[-1] for line in lines[3:7]] == ["B-ORG", "O", "B-LOC?", "O"]
    assert lines[-1].endswith(" · 1 label changed · 1 of 2 entities accepted")
    nothing = dataclasses.replace(refused, labels=["O"] * 4, draft_labels=["O"] * 4)
    assert SentencePrinter(0.35).render(nothing).endswith(" · 0 labels changed")
    parts = {"labels": ["NN", "VB", "NN", "NN"], "scheme": None}
    lines = SentencePrinter(None).render(dataclasses.replace(refused, **parts)).splitlines()
    assert [line.split()[-1] for line in lines[3:7]] == ["NN", "VB?", "NN?", "NN?"]
    assert lines[-1] == "    4 tokens"


def test_ascii_rendering():
    text = SentencePrinter(0.35, draw=False).render(SENTENCE)
    assert "  * Chelsea  B-LOC  0.70 ####      0.90  B-LOC -> B-ORG" in text.splitlines()
    assert not set("█·●…") & set(text)


def test_colour_marks_uncertain_tokens_only_and_changes_no_text():
    colored = SentencePrinter(0.35, color=True).render(SENTENCE)
    assert ANSI.sub("", colored) == SentencePrinter(0.35).render(SENTENCE)
    rows = colored.splitlines()[3:7]
    assert ["38;5;" in row for row in rows] == [True, False, True, False]


def test_columns_stay_aligned_with_wide_and_combining_characters():
    rows = SentencePrinter(0.35).render(SENTENCE).splitlines()[3:7]
    nats = [re.split(r"\d\.\d\d", row)[0] for row in rows]
    assert len(set(map(len, nats))) > 1  # in characters they differ, in columns they do not
    assert set(map(display_width, nats)) == {20}


def test_threshold_zero_and_huge():
    assert "above 0 nats" in SentencePrinter(0.0, color=True).render(SENTENCE)
    assert "above inf nats" in SentencePrinter(float("inf"), color=True).render(SENTENCE)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "environ", "wanted"),
    [
        (Terminal, {}, True),
        (io.StringIO, {}, False),
        (Terminal, {"TERM": "dumb"}, False),
        (Terminal, {"NO_COLOR": "1"}, False),
        (Terminal, {"NO_COLOR": ""}, True),
        (io.StringIO, {"FORCE_COLOR": "1"}, True),
        (io.StringIO, {"FORCE_COLOR": "0"}, False),
        (io.StringIO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_wants_color(stream, environ, wanted):
    assert wants_color(stream(), environ) is wanted


def test_can_draw():
    assert can_draw(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert not can_draw(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))


def test_labels_cannot_act_on_the_terminal():
    sentence = TaggedSentence(
        tokens=["a\x1b[2J", "b"],
        labels=["B-\x1b[31mX", "O"],
        draft_labels=["\x1b]0;t\x07", "O"],
        refined_labels=["O", "O"],
        uncertainty=[0.7, 0.0],
        confidence=[0.9, 1.0],
        refined=[True, False],
        scheme="IOB2",
    )
    text = SentencePrinter(0.35).render(sentence)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert r"[\x1b[31mX " in text
    assert r"\x1b]0;t\x07 -> B-\x1b[31mX" in text
