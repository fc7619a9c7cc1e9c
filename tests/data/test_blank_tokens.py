"""Leaving out tokens of white space keeps the entities, whatever the scheme."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uanet_lite.blank_tokens import without_blank_tokens
from uanet_lite.tag_schemes import IOB1, SCHEMES, Span, decode_spans, encode_spans


@pytest.mark.parametrize(
    ("tokens", "labels", "expected"),
    [
        ("_ a b", "B-X I-X O", "B-X O"),
        ("_ _ a", "B-X I-X I-X", "B-X"),
        ("_ a b", "B-X I-X E-X", "B-X E-X"),
        ("_ a", "B-X E-X", "S-X"),
        ("a _ _", "B-X I-X L-X", "U-X"),
        ("a b _", "B-X M-X E-X", "B-X E-X"),
        ("a _ b", "B-X I-X I-X", "B-X I-X"),
        ("a _ b", "I-X O I-X", "I-X B-X"),
        ("a _ b", "B-X I-Y I-X", "B-X B-X"),
        ("_ a", "S-X O", "O"),
        ("_ a", "NN VB", "VB"),
        ("_ a", "SYM :", ":"),
        ("a b", "I-X L-X", "I-X L-X"),
    ],
)
def test_by_hand(tokens, labels, expected):
    words = [" " if token == "_" else token for token in tokens.split()]
    kept, found = without_blank_tokens(words, labels.split())
    assert kept == tuple(word for word in words if word != " ")
    assert " ".join(found) == expected


@given(
    st.sampled_from(SCHEMES),
    st.lists(
        st.tuples(st.sampled_from(["", "X", "Y"]), st.lists(st.sampled_from("a "), min_size=1))
    ),
)
def test_the_entities_stay(scheme, pieces):
    """Pieces: type, none for no entity, and tokens."""
    words, spans, expected, count = [], [], [], 0
    for kind, tokens in pieces:
        rest = tokens.count("a")
        if kind:
            spans.append(Span(kind, len(words), len(words) + len(tokens)))
            if rest:
                expected.append(Span(kind, count, count + rest))
        words += tokens
        count += rest
    labels = encode_spans(spans, len(words), scheme)
    kept, found = without_blank_tokens(words, labels)
    assert len(kept) == count
    assert decode_spans(found, scheme) == expected
    if scheme != IOB1:  # a B that is not needed is left there
        right = encode_spans(expected, count, scheme)
        assert [label.replace("W-", "S-") for label in right] == [
            label.replace("W-", "S-")
            for label in found  # S is read as W in BMEWO
        ]
