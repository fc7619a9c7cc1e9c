"""doccano's JSONL of sequence labelling: {"text": ..., "label": [[start, end, type], ...]}.

doccano keeps other keys of an imported line and exports them again. So scores travel under
"suggested", which also tells what a person has changed: marks that are exactly those that were
suggested count as not reviewed. Export only the approved documents, and give them
`"status": "accepted"`, where that is not enough.
"""

from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import ACCEPTED, SUGGESTED, AnnotatedText, Mark

_OWN = ("id", "text", "data", "label", "labels", "entities")
_OURS = ("suggested", "tokens", "status", "score", "name")
_EXPORTED = ("relations", "Comments", "comments")
RESERVED = frozenset({*_OWN, *_OURS, *_EXPORTED})  # no names for ``AnnotatedText.meta``


def write(item: AnnotatedText) -> dict[str, Any]:
    """One line."""
    taken = sorted(RESERVED & item.meta.keys())
    if taken:
        raise InputError(f"meta must not hold {taken[0]!r}: it has a meaning in doccano's lines.")
    record = {
        "text": item.text,
        "label": [[mark.start, mark.end, mark.label] for mark in item.marks],
        **item.meta,
    }
    if item.status == SUGGESTED or any(mark.score is not None for mark in item.marks):
        record["suggested"] = [list(mark) for mark in item.marks]
    if item.status != SUGGESTED:
        record["status"] = item.status
    if item.tokens is not None:
        record["tokens"] = [list(token) for token in item.tokens]
    if item.score is not None:
        record["score"] = item.score
    if item.id is not None:
        record["name"] = item.id  # doccano gives an "id" of its own
    return record


def read(record: dict[str, Any]) -> AnnotatedText:
    """One line of an export, of plain sequence labelling or with relations."""
    given = record.get("label", record.get("labels", record.get("entities", [])))
    places = [_place(part) for part in given]
    suggested = [tuple(part) for part in record.get("suggested", [])]
    scores = {(start, end, label): score for start, end, label, score in suggested}
    marks = tuple(Mark(*place, scores.get(place)) for place in sorted(places))
    status = record.get("status")
    if status is None:
        untouched = "suggested" in record and sorted(scores) == sorted(places)
        status = SUGGESTED if untouched else ACCEPTED
    tokens = record.get("tokens")
    kept = {key: record[key] for key in record if key not in RESERVED}
    return AnnotatedText(
        text=record["text"] if "text" in record else record["data"],
        marks=marks,
        tokens=None if tokens is None else tuple((start, end) for start, end in tokens),
        status=status,
        score=record.get("score"),
        id=record.get("name", record.get("id")),
        meta=kept,
    )


def _place(part: Any) -> tuple[int, int, str]:
    if isinstance(part, dict):
        return int(part["start_offset"]), int(part["end_offset"]), str(part["label"])
    start, end, label = part
    return int(start), int(end), str(label)
