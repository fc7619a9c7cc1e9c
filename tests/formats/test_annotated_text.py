import pytest

from uanet_lite.notes import Notes
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import AnnotatedText, Mark, join_tokens
from uanet_tf.formats.cutting import labelled_sentences


def token_labels(item):
    """Tokens and labels of a text of one sentence."""
    found = labelled_sentences(
        item,
        "a.jsonl:1",
        1,
        tokenizer=Tokenizer("whitespace"),
        split=False,
        overlaps="refuse",
        notes=Notes(),
    )
    return next(iter([(list(one.tokens), list(one.labels)) for one in found]), ([], []))


def test_token_labels():
    text, tokens = join_tokens(["Ann", "van", "Beck", "saw", "New", "York"])
    assert text == "Ann van Beck saw New York"
    item = AnnotatedText(text, (Mark(0, 12, "PER"), Mark(17, 25, "LOC")), tokens)
    assert token_labels(item) == (
        ["Ann", "van", "Beck", "saw", "New", "York"],
        ["B-PER", "I-PER", "I-PER", "O", "B-LOC", "I-LOC"],
    )


def test_tokens_that_touch():
    item = AnnotatedText("Oslo's", (Mark(0, 4, "LOC"),), ((0, 4), (4, 6)))
    assert token_labels(item) == (["Oslo", "'s"], ["B-LOC", "O"])


def test_a_mark_within_a_token_cuts_it():
    text = "in Porto-Gaia, Lee"
    tokens = ((0, 2), (3, 13), (13, 14), (15, 18))
    item = AnnotatedText(text, (Mark(3, 8, "LOC"), Mark(15, 17, "PER")), tokens)
    expected = (["in", "Porto", "-Gaia", ",", "Le", "e"], ["O", "B-LOC", "O", "O", "B-PER", "O"])
    assert token_labels(item) == expected
    assert token_labels(AnnotatedText("Oslo's", (Mark(0, 4, "LOC"),))) == (
        ["Oslo", "'s"],
        ["B-LOC", "O"],
    )


def test_blanks_at_the_ends_of_marks_and_repeated_marks_change_nothing():
    tokens = ((0, 3), (4, 7))
    marks = (Mark(0, 4, "PER"), Mark(0, 3, "PER", 0.5), Mark(3, 4, "LOC"), Mark(3, 7, "LOC"))
    item = AnnotatedText("Ann Rio", marks, tokens)
    assert item.clean_marks() == (Mark(0, 3, "PER"), Mark(4, 7, "LOC"))
    assert token_labels(item) == (["Ann", "Rio"], ["B-PER", "B-LOC"])


def test_tokens_of_white_space_are_left_out():
    text = "in  New\u00a0 York\n"
    tokens = ((0, 2), (3, 4), (4, 7), (7, 8), (8, 9), (9, 13), (13, 14))
    item = AnnotatedText(text, (Mark(3, 14, "LOC"),), tokens)
    assert token_labels(item) == (["in", "New", "York"], ["O", "B-LOC", "I-LOC"])
    assert token_labels(AnnotatedText(" \n", (), ((0, 1), (1, 2)))) == ([], [])


def test_what_tokens_cannot_express_is_told():
    marks = (Mark(0, 3, "PER"), Mark(0, 7, "PER"))
    with pytest.raises(InputError, match="overlap"):
        token_labels(AnnotatedText("Ann Lee", marks))
    with pytest.raises(InputError, match=r"'Lee' \(characters 4 to 7\) holds no token"):
        token_labels(AnnotatedText("Ann Lee", (Mark(4, 7, "PER"),), ((0, 3),)))
    for tokens in (((0, 4), (3, 7)), ((4, 7), (0, 3))):
        with pytest.raises(InputError, match="overlap"):
            token_labels(AnnotatedText("Ann Lee", (), tokens))


def test_what_is_checked():
    with pytest.raises(InputError, match="characters 2 to 2 are no part of a text of 3"):
        AnnotatedText("Ann", (Mark(2, 2, "PER"),))
    with pytest.raises(InputError, match="characters 0 to 4"):
        AnnotatedText("Ann", tokens=((0, 4),))
    with pytest.raises(InputError, match="'new'"):
        AnnotatedText("Ann", status="new")
