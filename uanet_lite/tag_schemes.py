"""Chunk labels: IOB1, IOB2, BIOES, BILOU, BMES and BMEWO; spans, conversion, repair, detection.

A chunk label is `O`, or a letter, `-` and a type that may hold further hyphens
("B-weapon-missile"). Labels without type ("B", "I", "O") are spans of type "". Each letter has one
role whatever the scheme, so that reading a sequence does not depend on its scheme:

    role      IOB1  IOB2  BIOES  BILOU  BMES  BMEWO
    begin     B*    B     B      B      B     B      * IOB1: only right after a span of its type
    inside    I     I     I      I      M     M
    end       I     I     E      L      E     E
    single    I     B     S      U      S     W
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from uanet_lite.input_error import InputError

if TYPE_CHECKING:  # most uses need no arrays
    import numpy as np

SCHEMES = ("IOB1", "IOB2", "BIOES", "BILOU", "BMES", "BMEWO")
IOB1, IOB2, BIOES, BILOU, BMES, BMEWO = SCHEMES
OUTSIDE = "O"

_ROLES = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S", "W": "S"}
# scheme: letters for begin, inside, end, single (the two IOB schemes lack the last two).
_LETTERS = {
    IOB1: ("B", "I", "I", "I"),
    IOB2: ("B", "I", "I", "B"),
    BIOES: ("B", "I", "E", "S"),
    BILOU: ("B", "I", "L", "U"),
    BMES: ("B", "M", "E", "S"),
    BMEWO: ("B", "M", "E", "W"),
}
_UNTYPED_ALPHABETS = ("BIO", "BIOES", "BILOU", "BMES", "BMESO", "BMEWO")
_TYPED = re.compile(r"[BIMELSUW]-.+", re.DOTALL)


class Span(NamedTuple):
    """A labelled stretch of tokens: `start` included, `end` excluded."""

    type: str
    start: int
    end: int


@functools.lru_cache(maxsize=65_536)
def split_label(label: str) -> tuple[str, str]:
    """(letter, type) of a chunk label; ("O", "") for `O`. Raises InputError for any other."""
    if label == OUTSIDE:
        return OUTSIDE, ""
    if _TYPED.fullmatch(label):
        return label[0], label[2:]
    if label in _ROLES:
        return label, ""
    raise InputError(f"not a chunk label (O, or a letter of BIMELSUW, '-' and a type): {label!r}.")


def _checked_scheme(scheme: str) -> str:
    if scheme not in SCHEMES:
        raise InputError(f"scheme must be one of {', '.join(SCHEMES)}. Received: {scheme!r}.")
    return scheme


def decode_spans(labels: Sequence[str], scheme: str) -> list[Span]:
    """The spans of a label sequence, in order.

    As lenient as conlleval and seqeval's default mode: a span starts at a begin or single label,
    and at an inside or end label that cannot continue the label before it (outside, a finished
    span, another type); it ends before the next start, before `O`, and after an end or single
    label. Letters of another scheme are read by their role.

    Raises:
        InputError: a label that is not a chunk label, or an unknown scheme.
    """
    _checked_scheme(scheme)
    spans = []
    start, open_type = 0, None  # open_type: the type of a span that may still continue
    for index, label in enumerate(labels):
        letter, span_type = split_label(label)
        role = _ROLES.get(letter, OUTSIDE)
        continues = role in ("I", "E") and open_type == span_type
        if open_type is not None and not continues:
            spans.append(Span(open_type, start, index))
            open_type = None
        if role == OUTSIDE:
            continue
        if not continues:
            start = index
        if role in ("E", "S"):
            spans.append(Span(span_type, start, index + 1))
            open_type = None
        else:
            open_type = span_type
    if open_type is not None:
        spans.append(Span(open_type, start, len(labels)))
    return spans


def encode_spans(spans: Iterable[Span], length: int, scheme: str) -> list[str]:
    """The label sequence of `length` tokens that holds `spans` (in any order).

    Raises:
        InputError: a span is empty, outside the sentence or overlaps another; an unknown scheme.
    """
    begin, inside, end, single = _LETTERS[_checked_scheme(scheme)]
    labels = [OUTSIDE] * length
    previous = Span("", -1, -1)
    for span in sorted(spans, key=lambda span: span.start):
        if not 0 <= span.start < span.end <= length:
            raise InputError(
                f"span must lie within {length} tokens and hold one. Received: {span}."
            )
        if span.start < previous.end:
            raise InputError(f"spans must not overlap. Received: {previous} and {span}.")
        suffix = f"-{span.type}" if span.type else ""
        labels[span.start : span.end] = [inside + suffix] * (span.end - span.start)
        first, last = span.start, span.end - 1
        if scheme == IOB1:
            if previous.end == first and previous.type == span.type:
                labels[first] = begin + suffix
        elif first == last:
            labels[first] = single + suffix
        else:
            labels[first], labels[last] = begin + suffix, end + suffix
        previous = span
    return labels


def convert(labels: Sequence[str], source: str, target: str) -> list[str]:
    """The same spans in another scheme; an invalid sequence is repaired on the way."""
    return encode_spans(decode_spans(labels, source), len(labels), target)


def repair(labels: Sequence[str], scheme: str) -> tuple[list[str], int]:
    """The valid sequence with the same (leniently read) spans, and how many labels changed."""
    valid = convert(labels, scheme, scheme)
    return valid, sum(new != old for new, old in zip(valid, labels, strict=True))


def is_valid_transition(previous: str | None, following: str | None, scheme: str) -> bool:
    """Whether `following` may come right after `previous`; not if one is no label of the scheme.

    None is the start of the sentence as `previous` and its end as `following`.
    """
    letters = _LETTERS[_checked_scheme(scheme)]
    pair = []
    for label in (previous, following):
        try:
            letter, span_type = split_label(OUTSIDE if label is None else label)
        except InputError:
            return False
        if letter != OUTSIDE and letter not in letters:
            return False
        pair.append((_ROLES.get(letter, OUTSIDE), span_type))
    (before, before_type), (after, after_type) = pair
    same_open_type = before in ("B", "I") and before_type == after_type
    if scheme == IOB1:
        return after != "B" or same_open_type
    if scheme == IOB2:
        return after != "I" or same_open_type
    if before in ("B", "I"):
        return after in ("I", "E") and same_open_type
    return after not in ("I", "E")


def detect_scheme(label_sequences: Iterable[Sequence[str]]) -> str | None:
    """Which scheme a corpus is written in; None when its labels are not chunk labels (e.g. POS).

    The sequences are read once, so a generator will do. Rules, in this order:

    1. Every label must be `O` or a letter of BIMELSUW, `-` and a type; one other label ("NN",
       "-LRB-", "HYPH", a lone "B") and the corpus is not chunked. Exception: labels without types
       count when the corpus has exactly the labels of a scheme (B I O, B M E S, ...).
    2. A corpus of only `O` is IOB2 (it is valid in each scheme); one without labels is None.
    3. L or U: BILOU; W: BMEWO; M: BMES; E or S: BIOES. Letters that no single scheme has: None.
    4. Only B and I: IOB2 forbids a span that starts with I, IOB1 one that starts with B unless it
       follows a span of its type. The scheme with fewer offences wins, IOB2 in a tie.
    """
    labels: set[str] = set()
    offences = {IOB1: 0, IOB2: 0}
    for sequence in label_sequences:
        labels.update(sequence)
        previous = None  # type of the label before, unless it is `O`
        for label in sequence:
            kind = None if label == OUTSIDE else label[2:]
            if kind is not None and kind != previous and label[:1] in ("B", "I"):
                offences[IOB1 if label[0] == "B" else IOB2] += 1
            previous = kind
    return _scheme_of(labels, offences)


def _scheme_of(labels: set[str], offences: dict[str, int]) -> str | None:
    if not labels:
        return None
    if labels == {OUTSIDE}:
        return IOB2
    untyped = any(labels == set(alphabet) for alphabet in _UNTYPED_ALPHABETS)
    if not untyped and not all(label == OUTSIDE or _TYPED.fullmatch(label) for label in labels):
        return None
    letters = {label[0] for label in labels} - {OUTSIDE}
    if letters <= {"B", "I"}:
        return IOB1 if offences[IOB1] < offences[IOB2] else IOB2
    for scheme, alphabet in _LETTERS.items():
        if letters <= set(alphabet):
            return scheme
    return BMEWO if "W" in letters and letters <= set("BMESW") else None


class Transitions(NamedTuple):
    """What a tag scheme allows, for C labels, as booleans."""

    start: np.ndarray  # [C], whether a sentence may begin with the label
    steps: np.ndarray  # [C, C], whether the second label may follow the first
    end: np.ndarray  # [C], whether a sentence may end with the label


def valid_transitions(names: Sequence[str], scheme: str) -> Transitions:
    """The table of the labels ``names`` in ``scheme``; see ``is_valid_transition``."""
    import numpy as np

    around = [*names, None]  # None: outside the sentence
    table = np.array([[is_valid_transition(one, two, scheme) for two in around] for one in around])
    return Transitions(table[-1, :-1], table[:-1, :-1], table[:-1, -1])
