"""Texts with marks to sentences of labelled tokens."""

import bisect
import dataclasses
import itertools
from collections.abc import Iterable, Sequence

from uanet_lite.columns_file import Sentence
from uanet_lite.notes import Notes
from uanet_lite.raw_text import text_sentences
from uanet_lite.tag_schemes import IOB2, Span, encode_spans
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import AnnotatedText, Mark
from uanet_tf.formats.offsets import cuts_word
from uanet_tf.settings import LONGEST, REFUSE

Places = Sequence[tuple[int, int]]  # first character of each token, the one after the last


def labelled_sentences(
    item: AnnotatedText,
    place: str,
    line: int,
    *,
    tokenizer: Tokenizer,
    split: bool,
    overlaps: str,
    notes: Notes,
) -> list[Sentence]:
    """A text as sentences of tokens with labels, IOB2.

    The tokens are those of the text, where it has some; it is one sentence then. Tokens are also
    cut where a mark begins or ends; those of white space are left out. Blanks at the ends of marks
    are not theirs, and equal marks are one.

    Args:
      split: whether a text without tokens may hold several sentences.
      overlaps: one of ``settings.OVERLAPS``; of those that begin together the longer is the first.

    Raises:
      InputError: marks overlap and are refused; tokens overlap; a mark holds no token.
    """
    blank = sum(not item.text[mark.start : mark.end].strip() for mark in item.marks)
    notes.count("left out, as they hold nothing but blanks: {} marks", place, blank)
    marks = _apart(item.clean_marks(), place, overlaps, notes)
    notes.marks += len(marks)
    for mark in marks:
        if cuts_word(item.text, mark.start, mark.end):
            notes.cut_word(mark.place or place)
    if item.tokens is None:
        found = text_sentences(item.text, tokenizer, split=split)
        parts = [
            (list(zip(one.starts, one.ends, strict=True)), one.new_document)
            for one in _whole_marks(found, marks)
        ]
    else:
        for (_, end), (start, _) in itertools.pairwise(item.tokens):
            if start < end:
                raise InputError(
                    f"{place}: tokens overlap: one begins at {start}, and the one before ends at "
                    f"{end}."
                )
        parts = [(list(item.tokens), True)]
    edges = {edge for mark in marks for edge in mark[:2]}
    sentences, waiting = [], list(reversed(marks))
    for places, new_document in parts:
        cut = [(start, end) for start, end in cut_at(places, edges) if item.text[start:end].strip()]
        own = []
        while cut and waiting and waiting[-1].start < cut[-1][1]:
            own.append(waiting.pop())
        spans = [_span(cut, mark, item.text, place) for mark in own]
        if cut:
            labels = encode_spans(spans, len(cut), IOB2)
            tokens = tuple(item.text[start:end] for start, end in cut)
            sentence = Sentence(tokens, tuple(labels), line, new_document)
            if item.tokens is None:
                starts, ends = zip(*cut, strict=True)
                sentence = dataclasses.replace(sentence, text=item.text, starts=starts, ends=ends)
            sentences.append(sentence)
    for mark in waiting:
        _span((), mark, item.text, place)
    return sentences


def _apart(marks: Iterable[Mark], place: str, overlaps: str, notes: Notes) -> list[Mark]:
    """The marks in the order of the text, without those that overlap others."""
    order = sorted(marks, key=lambda mark: (mark.start, -mark.end))
    if overlaps == LONGEST:
        order.sort(key=lambda mark: (mark.start - mark.end, mark.start))
    kept: list[Mark] = []
    for mark in order:
        at = bisect.bisect_left(kept, mark.start, key=lambda one: one.start)
        neighbours = kept[max(0, at - 1) : at + 1]
        other = next((n for n in neighbours if n.start < mark.end and mark.start < n.end), None)
        if other is None:
            kept.insert(at, mark)
        elif overlaps == REFUSE:
            later = max(mark, other, key=lambda one: (one.place, one.start))
            raise InputError(
                f"{later.place or place}: the mark {mark.label} at characters {mark.start} to "
                f"{mark.end} overlaps {other.label} at {other.start} to {other.end}: "
                "`overlaps=longest` or `overlaps=first` keeps one of them."
            )
        else:
            notes.overlap(mark.place or place)
    return kept


def _whole_marks(sentences: Iterable[Sentence], marks: Sequence[Mark]) -> list[Sentence]:
    """The sentences; those that share a mark ("Yahoo! The Company") are one."""
    ends = [mark.end for mark in marks]
    whole: list[Sentence] = []
    for sentence in sentences:
        place = bisect.bisect_right(ends, sentence.starts[0])
        if whole and place < len(marks) and marks[place].start < whole[-1].ends[-1]:
            before = whole.pop()
            starts, stops = [*before.starts, *sentence.starts], [*before.ends, *sentence.ends]
            sentence = dataclasses.replace(before, starts=starts, ends=stops)
        whole.append(sentence)
    return whole


def _span(places: Places, mark: Mark, text: str, place: str) -> Span:
    """A mark as a span of these tokens; raises InputError if it holds none of them."""
    first = bisect.bisect_left(places, mark.start, key=lambda token: token[0])
    last = bisect.bisect_right(places, mark.end, key=lambda token: token[1])
    if first >= last:
        raise InputError(
            f"{mark.place or place}: {text[mark.start : mark.end]!r:.60} (characters {mark.start} "
            f"to {mark.end}) holds no token."
        )
    return Span(mark.label, first, last)


def cut_at(places: Places, edges: Iterable[int]) -> list[tuple[int, int]]:
    """The places, each cut at the edges inside it: a piece begins there.

    Edges are characters; edges between tokens change nothing.
    """
    order = sorted(set(edges))
    pieces = []
    for start, end in places:
        inside = order[bisect.bisect_right(order, start) : bisect.bisect_left(order, end)]
        pieces += list(zip([start, *inside], [*inside, end], strict=True))
    return pieces
