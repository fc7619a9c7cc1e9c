"""Tokenizers: what they cut, that they say where, and that the graph cuts alike."""

import random

import pytest

from uanet_lite.tokenizer import KINDS, Tokenizer
from uanet_tf.errors import InputError

PTB = Tokenizer("ptb", ("Corp.", "Mr.", "tzv."))
ORDINALS = Tokenizer("ptb", ("tzv.",), ordinals=True)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Jean-Claude Van Damme's film", "Jean-Claude Van Damme 's film"),
        ("Apple's iPhone 15 isn't here.", "Apple 's iPhone 15 is n't here ."),
        ("The U.S. and Microsoft Corp. said", "The U.S. and Microsoft Corp. said"),
        ("Mr. Co. ended in 2007.", "Mr. Co . ended in 2007 ."),
        ("They’re we'll I'd can't CAN'T", "They ’re we 'll I 'd ca n't CA N'T"),
        ("I cannot, Cannot annotate", "I can not , Can not annotate"),
        ("1,000.50 10:30 2/3 3-1 -- ... ?! !!", "1,000.50 10:30 2/3 3-1 -- ... ? ! !!"),
        ("see http://a.b/c?d=1, or www.x.org.", "see http://a.b/c?d=1 , or www.x.org ."),
        ("me@a-b.org: 'quoted' \"so\"", "me@a-b.org : ' quoted ' \" so \""),
        ("R$ 5 (77%) US$10 «a»", "R$ 5 ( 77 % ) US$ 10 « a »"),
        ("J. F. Bach, not X.com or J.F. Bach", "J. F. Bach , not X.com or J.F. Bach"),
        ("So say I. Plan B.", "So say I. Plan B ."),
        ('The U.S. (see "C.")', 'The U.S. ( see " C . " )'),
        ("👍🏽👩‍👩‍👧 naïve नमस्ते", "👍🏽 👩‍👩‍👧 naïve नमस्ते"),
        ("", ""),
        (" \t\n", ""),
    ],
)
def test_ptb(text, tokens):
    assert PTB.tokenize(text) == tokens.split()


def test_ordinals_within_a_sentence_only():
    assert ORDINALS.tokenize("Osuđen 14. marta, tzv. 2005.") == [
        *["Osuđen", "14.", "marta", ",", "tzv.", "2005", "."]
    ]


@pytest.mark.parametrize(
    ("marks", "tokens"),
    [
        ("", "# A_1 's @ b . me@a-b.org @ @ c #"),
        ("#", "#A_1 's @ b . me@a-b.org @ @ c #"),
        ("@#", "#A_1 's @b . me@a-b.org @ @c #"),
    ],
)
def test_marks(marks, tokens):
    assert Tokenizer("ptb", marks=marks).tokenize("#A_1's @b. me@a-b.org @@c #") == tokens.split()


def test_whitespace():
    assert Tokenizer("whitespace").tokenize(" don't\u00a0stop. \n") == ["don't", "stop."]


def test_every_token_says_where_it_stands():
    rng = random.Random(1)
    parts = ["don't", "'s", "\x1f", " ", ".", "é", "\u0301", "14.", "can", "not", "Corp.", "\u200d"]
    for _ in range(2_000):
        text = "".join(rng.choices(parts, k=rng.randrange(9)))
        for tokenizer in (PTB, ORDINALS, *map(Tokenizer, KINDS)):
            spans = tokenizer.spans(text)
            assert [text[start:end] for start, end in spans] == tokenizer.tokenize(text)
            edges = [edge for span in spans for edge in span]
            assert edges == sorted(edges)
            assert all(start < end for start, end in spans)
            # Nothing but blanks is left out.
            rest = list(text)
            for start, end in spans:
                rest[start:end] = " " * (end - start)
            assert not "".join(rest).strip()


def test_stored_and_read():
    for tokenizer in (PTB, ORDINALS, Tokenizer(), Tokenizer("ptb", marks="@#")):
        assert Tokenizer.from_dict(tokenizer.to_dict()) == tokenizer
    good = PTB.to_dict()
    for bad in (
        {**good, "kind": "moses"},
        {**good, "abbreviations": ["a."] * 501},
        {**good, "abbreviations": [""]},
        {**good, "abbreviations": [1]},
        {**good, "ordinals": 1},
        {**good, "more": 1},
        {**good, "marks": "$"},
        {**good, "marks": ["@"]},
        {key: value for key, value in good.items() if key != "marks"},
    ):
        with pytest.raises(InputError):
            Tokenizer.from_dict(bad)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't panic!", ["Don't", "panic", "!"]),
        ("e-mail, U.S. at 10:30.", ["e-mail", ",", "U.S", ".", "at", "10:30", "."]),
        ("1,000.50 1,a", ["1,000.50", "1", ",", "a"]),
        ("a,b:c", ["a", ",", "b", ":", "c"]),
        ("São “Tomé”…", ["São", "“", "Tomé", "”", "…"]),
        ("cafe\u0301!", ["cafe\u0301", "!"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
        ("  ", []),
    ],
)
def test_tokenize(text, tokens):
    assert Tokenizer().tokenize(text) == tokens
