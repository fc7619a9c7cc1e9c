import pytest

from uanet_tf.annotation.annotated_text import AnnotatedText, Mark, join_tokens, words
from uanet_tf.errors import InputError


def test_token_labels():
    text, tokens = join_tokens(["Ann", "van", "Beck", "saw", "New", "York"])
    assert text == "Ann van Beck saw New York"
    item = AnnotatedText(text, (Mark(0, 12, "PER"), Mark(17, 25, "LOC")), tokens)
    assert item.token_labels("IOB2") == (
        ["Ann", "van", "Beck", "saw", "New", "York"],
        ["B-PER", "I-PER", "I-PER", "O", "B-LOC", "I-LOC"],
    )
    assert AnnotatedText(text, item.marks).token_labels("BIOES")[1][:3] == [
        "B-PER",
        "I-PER",
        "E-PER",
    ]


def test_tokens_that_touch():
    item = AnnotatedText("Oslo's", (Mark(0, 4, "LOC"),), ((0, 4), (4, 6)))
    assert item.token_labels("IOB2") == (["Oslo", "'s"], ["B-LOC", "O"])


def test_a_mark_within_a_token_is_told():
    with pytest.raises(InputError, match=r"'Oslo' \(characters 0 to 4\) does not begin and end"):
        AnnotatedText("Oslo's", (Mark(0, 4, "LOC"),)).token_labels("IOB2")
    marks = (Mark(0, 3, "PER"), Mark(0, 7, "PER"))
    with pytest.raises(InputError, match="overlap"):
        AnnotatedText("Ann Lee", marks).token_labels("IOB2")


def test_words():
    assert words("  Ann\u00a0saw  a a\n") == ((2, 5), (6, 9), (11, 12), (13, 14))
    assert words(" ") == ()


def test_what_is_checked():
    with pytest.raises(InputError, match="characters 2 to 2 are no part of a text of 3"):
        AnnotatedText("Ann", (Mark(2, 2, "PER"),))
    with pytest.raises(InputError, match="characters 0 to 4"):
        AnnotatedText("Ann", tokens=((0, 4),))
    with pytest.raises(InputError, match="'new'"):
        AnnotatedText("Ann", status="new")
