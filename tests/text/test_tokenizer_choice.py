"""The tokenizer is chosen by what a corpus looks like."""

import string

import pytest

from uanet_lite.tokenizer import MAX_ABBREVIATIONS, Tokenizer, detokenize
from uanet_tf.text.tokenizer_choice import (
    COMMON,
    choose_tokenizer,
    fitted_tokenizer,
    is_written_without_blanks,
)

ENGLISH = [
    ["Mr.", "Lee", "'s", "team", "did", "n't", "win", "."],
    ["Apple", "Corp.", "said", "it", "'s", "over", "...", "(", "for", "now", ")", "."],
    ["Mr.", "Ray", "of", "Bell", "Corp.", "'s", "board", "left", "."],
]
UNICODE = [
    ["don't", "stop", "at", "the", "U.S", ".", "border"],
    ["it's", "Damme's", "e-mail", ",", "isn't", "it", "?"],
]
BLANKS = [["don't", "stop!", "(now)"], ["Hello,", "you."]]


@pytest.mark.parametrize(
    ("sentences", "kind"), [(ENGLISH, "ptb"), (UNICODE, "unicode"), (BLANKS, "whitespace")]
)
def test_choice(sentences, kind):
    choice = choose_tokenizer(sentences)
    assert choice.tokenizer.kind == kind
    assert choice.scores[kind] == max(choice.scores.values()) == 100.0


def test_abbreviations_and_ordinals_are_learnt():
    tokenizer = fitted_tokenizer("ptb", [*ENGLISH, ["Rue", "Bd.", "3"], ["Bd.", "4"]])
    assert {*tokenizer.abbreviations} - {*COMMON} == {"Bd."}
    assert not tokenizer.ordinals
    dates = [[f"{number}.", "marta", "tzv.", "so", "so", "so."] for number in range(1, 26)]
    tokenizer = fitted_tokenizer("ptb", dates)
    assert "tzv." in tokenizer.abbreviations
    assert "so." not in tokenizer.abbreviations  # it stands less often than "so"
    assert tokenizer.ordinals


@pytest.mark.parametrize(
    ("sentences", "missing"),
    [
        ([["It", "rains", "."]], set()),
        ([["Enron", "Corp", "lost"], ["Enron", "Corp", "won"], ["Enron", "Corp.", "."]], set()),
        ([["In", "Oct", ".", "or", "Nov.", "on"], ["Mr.", "Ray"]], {"Oct."}),
        ([["In", "Oct", ".", "or", "Nov.", "on"], ["Mr", ".", "Ray"]], {*COMMON}),
        (
            [["In", "Nov.", "Nov.", "or"], ["Mr", ".", "or", "Dr", "."], ["Sen", "."]],
            {*COMMON} - {"Nov."},
        ),
    ],
)
def test_common_abbreviations_unless_the_corpus_cuts_them(sentences, missing):
    assert {*COMMON} - {*fitted_tokenizer("ptb", sentences).abbreviations} == missing


def test_no_more_abbreviations_than_a_tokenizer_takes():
    shown = [f"{first}{second}x." for first in "bcdfghjklm" for second in string.ascii_lowercase]
    shown += [word.capitalize() for word in shown]
    tokenizer = fitted_tokenizer("ptb", [shown, shown])
    assert len(tokenizer.abbreviations) == MAX_ABBREVIATIONS
    assert {*tokenizer.abbreviations} <= {*shown}  # the corpus' own come first
    assert Tokenizer.from_dict(tokenizer.to_dict()) == tokenizer


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ('He did n\'t say " no " , did he ?', 'He did n\'t say "no", did he?'),
        ("( 77 % ) of US $ 5 .", "(77%) of US $5."),
        ("Bell Corp. .", "Bell Corp."),
        ("Well . . . no .. .", "Well... no..."),
        ("it 's Bob 's", "it's Bob's"),
        ("", ""),
    ],
)
def test_detokenize(tokens, text):
    found, spans = detokenize(tokens.split())
    assert found == text.replace("did n't", "didn't")
    for token, span in zip(tokens.split(), spans, strict=True):
        assert span is None or found[slice(*span)] == token
    assert spans.count(None) == tokens.count("Corp. .")


@pytest.mark.parametrize(
    ("labels", "marks"),
    [(None, "@"), ([["B-X", "O", "O", "O", "O"]] * 2, "@"), ([["O", "O", "O", "B-X"]] * 2, "@#")],
)
def test_marks_stay_where_the_corpus_keeps_them(labels, marks):
    """Where a corpus does both, the labelled words decide."""
    posts = [["@ann", "@", "bob", "#one", "."], ["#", "two", "@_c", "#three", "#"]]
    posts[0] += ["#", "so"]
    if labels is not None:
        labels = [
            row + ["O"] * (len(post) - len(row)) for row, post in zip(labels, posts, strict=True)
        ]
    assert fitted_tokenizer("ptb", posts, labels).marks == marks


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ("\u6211 \u5728 \u5317 \u4eac .", True),
        ("\u3053\u308c \u306f \u672c", True),
        ("\u0e09\u0e31\u0e19 \u0e44\u0e1b .", True),
        ("\ub098\ub294 \uac04\ub2e4 .", False),
        ("\u0630\u0647\u0628 \u0623\u062d\u0645\u062f", False),
        ("the name \u5317\u4eac is short", False),
    ],
)
def test_scripts_without_blanks(tokens, expected):
    assert is_written_without_blanks([tokens.split()] * 3) is expected
