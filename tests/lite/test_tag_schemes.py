"""Tag schemes: spans, conversion, repair, transitions and detection."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uanet_lite.tag_schemes import (
    SCHEMES,
    Span,
    convert,
    decode_spans,
    detect_scheme,
    encode_spans,
    is_valid_transition,
    repair,
)
from uanet_tf.errors import InputError

# The same examples at each run, and no deadline: machines are busy at times.
steady = settings(deadline=None, derandomize=True, max_examples=200)

LETTERS = {"IOB1": "BI", "IOB2": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}
LETTERS["BMEWO"] = "BMEW"
SPANS = [Span("A", 0, 1), Span("A", 1, 3), Span("B-c", 3, 4), Span("A", 5, 8)]
ENCODED = {
    "IOB1": "I-A B-A I-A I-B-c O I-A I-A I-A",
    "IOB2": "B-A B-A I-A B-B-c O B-A I-A I-A",
    "BIOES": "S-A B-A E-A S-B-c O B-A I-A E-A",
    "BILOU": "U-A B-A L-A U-B-c O B-A I-A L-A",
    "BMES": "S-A B-A E-A S-B-c O B-A M-A E-A",
    "BMEWO": "W-A B-A E-A W-B-c O B-A M-A E-A",
}


@st.composite
def span_lists(draw):
    """Non-overlapping spans, some of them adjacent, and the length of their sentence."""
    pieces = draw(st.lists(st.tuples(st.sampled_from(["", "A", "B", "x-y"]), st.integers(1, 4))))
    typed = draw(st.booleans())
    spans, start = [], 0
    for span_type, size in pieces:
        if span_type:
            spans.append(Span(span_type if typed else "", start, start + size))
        start += size
    return spans, start


def label_lists(scheme):
    labels = ["O", *(f"{letter}-{name}" for letter in LETTERS[scheme] for name in ("A", "B"))]
    return st.lists(st.sampled_from(labels), max_size=8)


def is_valid(labels, scheme):
    pairs = itertools.pairwise([None, *labels, None])
    return all(is_valid_transition(before, after, scheme) for before, after in pairs)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_encoding_and_decoding(scheme):
    assert encode_spans(reversed(SPANS), 8, scheme) == ENCODED[scheme].split()
    assert decode_spans(ENCODED[scheme].split(), scheme) == SPANS


@steady
@given(span_lists(), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_round_trip_between_all_schemes(case, source, target):
    spans, length = case
    labels = encode_spans(spans, length, source)
    assert is_valid(labels, source)
    assert decode_spans(labels, source) == spans
    converted = convert(labels, source, target)
    assert is_valid(converted, target)
    assert decode_spans(converted, target) == spans
    assert convert(converted, target, source) == labels


@steady
@given(st.data(), st.sampled_from(SCHEMES))
def test_repair(data, scheme):
    labels = data.draw(label_lists(scheme))
    repaired, changed = repair(labels, scheme)
    assert is_valid(repaired, scheme)
    assert changed == sum(old != new for old, new in zip(labels, repaired, strict=True))
    assert (changed == 0) == is_valid(labels, scheme)
    assert repair(repaired, scheme) == (repaired, 0)
    assert decode_spans(repaired, scheme) == decode_spans(labels, scheme)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("I-A I-A O", [("A", 0, 2)]),  # starts with inside
        ("O E-A O", [("A", 1, 2)]),
        ("B-A I-B", [("A", 0, 1), ("B", 1, 2)]),  # the type changes
        ("B-A E-B E-B", [("A", 0, 1), ("B", 1, 2), ("B", 2, 3)]),
        ("E-A I-A", [("A", 0, 1), ("A", 1, 2)]),  # nothing goes on after an end
        ("S-A E-A", [("A", 0, 1), ("A", 1, 2)]),
        ("S-A I-A E-A", [("A", 0, 1), ("A", 1, 3)]),
        ("B-A S-A", [("A", 0, 1), ("A", 1, 2)]),
        ("B-A I-A", [("A", 0, 2)]),  # never ended
        ("B-A B-A", [("A", 0, 1), ("A", 1, 2)]),
        ("B-A I-A O I-A", [("A", 0, 2), ("A", 3, 4)]),
        ("", []),
    ],
)
def test_invalid_sequences_are_read_leniently(labels, expected):
    assert decode_spans(labels.split(), "BIOES") == [Span(*span) for span in expected]


@steady
@given(label_lists("BIOES"))
def test_lenient_reading_agrees_with_seqeval(labels):
    from seqeval.metrics.sequence_labeling import get_entities

    theirs = [Span(name, start, end + 1) for name, start, end in get_entities(labels)]
    assert decode_spans(labels, "BIOES") == theirs


def test_repairs_are_counted():
    assert repair(["I-A", "I-A", "O", "I-B"], "IOB2") == (["B-A", "I-A", "O", "B-B"], 2)
    assert repair(["B-A", "I-A", "O", "B-B"], "IOB1") == (["I-A", "I-A", "O", "I-B"], 2)
    assert repair(["B-A", "O", "I-A", "E-A"], "BIOES") == (["S-A", "O", "B-A", "E-A"], 2)


VALID_PAIRS = {
    # Rows: before; columns: start or O, then the letters of the scheme with the same type, then
    # with another type. 1: allowed.
    "IOB2": {"O": "1 10 10", "B": "1 11 10", "I": "1 11 10"},
    "IOB1": {"O": "1 01 01", "B": "1 11 01", "I": "1 11 01"},
    "BIOES": {"O": "1 1001 1001", "B": "0 0110 0000", "I": "0 0110 0000", "E": "1 1001 1001"}
    | {"S": "1 1001 1001"},
}
VALID_PAIRS["BILOU"] = {
    "L" if k == "E" else "U" if k == "S" else k: v for k, v in VALID_PAIRS["BIOES"].items()
}
VALID_PAIRS["BMES"] = {"M" if k == "I" else k: v for k, v in VALID_PAIRS["BIOES"].items()}
VALID_PAIRS["BMEWO"] = {"W" if k == "S" else k: v for k, v in VALID_PAIRS["BMES"].items()}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_transitions(scheme):
    for before, row in VALID_PAIRS[scheme].items():
        previous = "O" if before == "O" else f"{before}-A"
        after_outside, same, other = row.split()
        allowed = {"O": after_outside, None: after_outside}
        allowed |= {f"{k}-A": bit for k, bit in zip(LETTERS[scheme], same, strict=True)}
        allowed |= {f"{k}-B-c": bit for k, bit in zip(LETTERS[scheme], other, strict=True)}
        for following, bit in allowed.items():
            assert is_valid_transition(previous, following, scheme) == (bit == "1")
            if before == "O":
                assert is_valid_transition(None, following, scheme) == (bit == "1")


def test_labels_of_other_schemes_are_never_valid():
    assert not is_valid_transition("O", "S-A", "IOB2")
    assert not is_valid_transition("E-A", "O", "BILOU")
    assert not is_valid_transition("O", "NN", "BIOES")


@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        (["B-A I-A O", "O B-A"], "IOB2"),
        (["B-A O B-B"], "IOB2"),
        (["I-A I-A O", "I-A B-A"], "IOB1"),
        (["I-A I-A O I-B"], "IOB1"),
        (["O O I-A B-A I-A"], "IOB1"),
        (["B-A I-A O B-A", "I-A O B-B O B-A"], "IOB2"),  # one offence against three
        (["I-A O B-A"], "IOB2"),  # one against one
        (["S-A O B-A E-A"], "BIOES"),
        (["S-A O"], "BIOES"),
        (["B-A I-A E-A O"], "BIOES"),
        (["U-A O B-A L-A"], "BILOU"),
        (["B-A I-A L-A"], "BILOU"),
        (["S-A O B-A M-A E-A"], "BMES"),
        (["B-A M-A E-A"], "BMES"),
        (["O O", "O"], "IOB2"),
        (["B I O"], "IOB2"),
        (["I O", "I B"], "IOB1"),
        (["B M E S"], "BMES"),
        (["W-A O B-A M-A E-A"], "BMEWO"),
        (["W-A O"], "BMEWO"),
        (["W-A S-A B-A E-A"], "BMEWO"),
        (["B-weapon-missile I-weapon-missile O"], "IOB2"),
        (["B-A I-A O M-A L-A"], None),  # letters that no scheme has together
        (["DT NN VBZ"], None),
        (["-LRB- NN -RRB-"], None),
        (["HYPH NN . , : ``"], None),
        (["B O"], None),
        (["O I"], None),
        (["S NN B"], None),
        (["B-A NN O"], None),
        (["B- O"], None),
        (["B_A I_A O"], None),
        (["b-A O"], None),
        ([], None),
        (["", ""], None),
    ],
)
def test_detection(corpus, expected):
    sequences = [line.split() for line in corpus]
    assert detect_scheme(sequences) == expected
    assert detect_scheme(iter(sequences)) == expected


@steady
@given(st.lists(span_lists(), min_size=1), st.sampled_from(SCHEMES))
def test_detection_of_what_was_encoded(cases, scheme):
    sequences = [encode_spans(spans, length, scheme) for spans, length in cases]
    letters = {label[0] for labels in sequences for label in labels}
    found = detect_scheme(sequences)
    untyped = any(span.type == "" for spans, _ in cases for span in spans)
    if untyped or not letters - {"O"}:
        return
    # Few spans may be valid in several schemes; then another one must read them the same.
    for (spans, _), labels in zip(cases, sequences, strict=True):
        assert found is not None
        assert decode_spans(labels, found) == spans


@pytest.mark.parametrize("label", ["NN", "-LRB-", "X-A", "B-", "b-A", "", "BA"])
def test_labels_that_are_not_chunk_labels_are_refused(label):
    with pytest.raises(InputError, match="not a chunk label"):
        decode_spans(["O", label], "IOB2")


def test_bad_arguments():
    with pytest.raises(InputError, match="Received: 'BIO2'"):
        decode_spans(["O"], "BIO2")
    with pytest.raises(InputError, match="Received: 'x'"):
        is_valid_transition(None, None, "x")
    with pytest.raises(InputError, match="must not overlap"):
        encode_spans([Span("A", 0, 2), Span("B", 1, 3)], 3, "IOB2")
    for span in (Span("A", 0, 4), Span("A", -1, 1), Span("A", 2, 2)):
        with pytest.raises(InputError, match="must lie within 3 tokens"):
            encode_spans([span], 3, "IOB2")
