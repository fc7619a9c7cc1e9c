"""doccano's JSONL of sequence labelling: {"text": ..., "label": [[start, end, type], ...]}.

doccano keeps other keys of an imported line and exports them again. So suggestions and their scores
stand under "suggested" too: marks that are exactly those that were suggested count as not reviewed.

doccano counts offsets in UTF-16 units: so they are written (and the line says so, where that
differs from code points), and read where code points would cut words and UTF-16 units do not.
"""

from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import (
    ACCEPTED,
    SUGGESTED,
    AnnotatedText,
    marks_at,
    needed,
    offset_of,
    text_of,
    token_places,
    type_of,
)
from uanet_tf.formats.offsets import UTF16, code_points, to_utf16

_KEYS = ("label", "labels", "entities", "annotations")
_OWN = ("id", "text", "data", *_KEYS)
_OURS = ("suggested", "tokens", "score", "name", "counted")
_EXPORTED = ("relations", "Comments", "comments")
RESERVED = frozenset({*_OWN, *_OURS, *_EXPORTED})  # no names for ``AnnotatedText.meta``


def matches(record: dict[str, Any]) -> bool:
    """Whether a record is one of this format."""
    if not {"text", "data"} & record.keys():
        return False
    if any(isinstance(record.get(key), list) for key in ("label", "labels", "annotations")):
        return True
    entities = record.get("entities")
    return isinstance(entities, list) and (
        "relations" in record
        or any(isinstance(part, dict) and "start_offset" in part for part in entities)
    )


def write(item: AnnotatedText) -> dict[str, Any]:
    """One line."""
    places = [
        [to_utf16(item.text, mark.start), to_utf16(item.text, mark.end), mark.label]
        for mark in item.marks
    ]
    record: dict[str, Any] = {"text": item.text, "label": places, **item.meta}
    if item.status == SUGGESTED:
        record["suggested"] = [
            [*place, mark.score] for place, mark in zip(places, item.marks, strict=True)
        ]
    if to_utf16(item.text, len(item.text)) > len(item.text):
        record["counted"] = UTF16
    if item.tokens is not None:
        record["tokens"] = [list(token) for token in item.tokens]
    if item.score is not None:
        record["score"] = item.score
    if item.id is not None:
        record["name"] = item.id  # doccano gives an "id" of its own
    return record


def read(record: dict[str, Any]) -> AnnotatedText:
    """One line of an export, of plain sequence labelling or with relations."""
    text = text_of(record, ("text", "data"))
    places = sorted(_place(part) for part in needed(record, _KEYS, "doccano"))
    suggested = [tuple(part[:3]) for part in record.get("suggested", [])]
    untouched = "suggested" in record and sorted(suggested) == places
    read = code_points(text, [place[:2] for place in places], record.get("counted"))
    return AnnotatedText(
        text=text,
        marks=marks_at(read.spans, (place[2] for place in places)),
        tokens=token_places(record.get("tokens")),
        status=SUGGESTED if untouched else ACCEPTED,
        counted=read.how,
    )


def _place(part: Any) -> tuple[int, int, str]:
    if isinstance(part, dict):
        part = [part["start_offset"], part["end_offset"], part["label"]]
    if not isinstance(part, list) or len(part) != 3 or isinstance(part[0], str):
        raise InputError(f"a mark is not [start, end, type]: {part!r:.60}")
    start, end, label = part
    return offset_of(start), offset_of(end), type_of(label)
