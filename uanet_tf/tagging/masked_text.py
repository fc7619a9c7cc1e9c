"""Texts with the types of their entities in place of these."""

from collections.abc import Sequence
from typing import TextIO

from uanet_lite.row_output import Write
from uanet_lite.rows import Row
from uanet_lite.strict_json import json_text
from uanet_lite.tagged_sentence import TaggedSentence

# Of a JSON object, what is masked, and what answers of before quote of it.
_CONTENT = {"text", "tokens", "source_text", "entities", "candidates"}


def masked_text(text: str, sentences: Sequence[TaggedSentence]) -> str:
    """The text with ``[PER]`` and the like in place of what may be an entity.

    Masked are the entities that are given (accepted, where there is a target precision) and all
    candidates; their places count in ``text``. Those that overlap get one mask, with the type of
    the most probable.
    """
    pieces, position = [], 0
    for start, end, kind in _merged(sentences):
        pieces += [text[position:start], f"[{kind}]"]
        position = end
    return "".join([*pieces, text[position:]])


def _merged(sentences: Sequence[TaggedSentence]) -> list[tuple[int, int, str]]:
    """(start, end, type) of the stretches to be masked, from left to right."""
    spans = []
    for sentence in sentences:
        given = [each for each in sentence.entities if each.accepted is not False]
        spans += [(each.start, each.end, each.confidence, each.type) for each in given]
        rest = sentence.candidates or ()
        spans += [(each.start, each.end, each.probability, each.type) for each in rest]
    merged: list[tuple[int, int, float, str]] = []
    for start, end, probability, kind in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, best, best_kind = merged[-1]
            probability, kind = max((probability, kind), (best, best_kind))
            merged[-1] = (first, max(last, end), probability, kind)
        else:
            merged.append((start, end, probability, kind))
    return [(start, end, kind) for start, end, _, kind in merged]


def masking_writer(kind: str, stream: TextIO) -> Write:
    """The function that writes one row, its text masked, to a stream.

    Of the kind "jsonl" it has the other keys of the input, too, as they are; else a line of text.
    """

    def write(row: Row, sentences: Sequence[TaggedSentence]) -> None:
        if row.text is None:
            text = "\n".join(masked_text(each.source_text or "", [each]) for each in sentences)
        else:
            text = masked_text(row.text if row.error is None else "", sentences)
        if kind != "jsonl":
            stream.write(text + "\n")
            return
        fields = {name: value for name, value in row.fields.items() if name not in _CONTENT}
        # What is wrong with a row quotes it.
        told = {"text": text} if row.error is None else {"error": "not read", "line": row.line}
        stream.write(json_text(fields | told) + "\n")

    return write
