"""Chunk labels to spans and back: the rules of ``uanet_tf.data.tag_schemes``."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_ROLES = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
# scheme: letters for begin, inside, end, single.
_LETTERS = {
    "IOB1": ("B", "I", "I", "I"),
    "IOB2": ("B", "I", "I", "B"),
    "BIOES": ("B", "I", "E", "S"),
    "BILOU": ("B", "I", "L", "U"),
    "BMES": ("B", "M", "E", "S"),
}
SCHEMES = tuple(_LETTERS)


class Span(NamedTuple):
    """A labelled stretch of tokens: ``start`` included, ``end`` excluded."""

    type: str
    start: int
    end: int


def decode_spans(labels: Sequence[str]) -> list[Span]:
    """The spans of a label sequence, in order.

    Lenient: an inside or end label that cannot continue the label before it starts a span.
    """
    spans = []
    start, open_type = 0, None  # open_type: the type of a span that may still continue
    for index, label in enumerate(labels):
        role, span_type = _ROLES.get(label[:1], "O"), label[2:]
        continues = role in ("I", "E") and open_type == span_type
        if open_type is not None and not continues:
            spans.append(Span(open_type, start, index))
            open_type = None
        if role == "O":
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
    """The labels of ``length`` tokens that hold ``spans``, which are in order."""
    begin, inside, end, single = _LETTERS[scheme]
    labels = ["O"] * length
    previous = Span("", -1, -1)
    for span in spans:
        suffix = f"-{span.type}" if span.type else ""
        labels[span.start : span.end] = [inside + suffix] * (span.end - span.start)
        first, last = span.start, span.end - 1
        if scheme == "IOB1":
            if previous.end == first and previous.type == span.type:
                labels[first] = begin + suffix
        elif first == last:
            labels[first] = single + suffix
        else:
            labels[first], labels[last] = begin + suffix, end + suffix
        previous = span
    return labels
