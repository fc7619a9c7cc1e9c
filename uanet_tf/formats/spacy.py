"""JSON of spaCy's spans: {"text": ..., "entities": [[start, end, type], ...]}.

Also [text, {"entities": ...}], as spaCy 2 has its training data.

Offsets are code points. Also read under ``spans`` and ``ents``, and as objects with start, end and
label (or type), and text, which is compared with the text at these offsets.
"""

from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import ACCEPTED, AnnotatedText, Mark, needed, text_of, type_of
from uanet_tf.formats.offsets import Said, mend

_KEYS = ("entities", "spans", "ents", "label", "labels")


def matches(record: dict[str, Any]) -> bool:
    """Whether a record is one of this format."""
    return "text" in record and any(key in record for key in _KEYS[:3])


def read(record: dict[str, Any]) -> AnnotatedText:
    """One text."""
    text = text_of(record)
    parts = [_part(part) for part in needed(record, _KEYS, "spaCy")]
    mended = mend(text, [said for said, _ in parts])
    marks = (
        Mark(start, end, label)
        for (start, end), (_, label) in zip(mended.spans, parts, strict=True)
    )
    return AnnotatedText(text, tuple(marks), status=ACCEPTED, counted=mended.how)


def write(item: AnnotatedText) -> dict[str, Any]:
    """One text."""
    return {"text": item.text, "entities": [list(mark[:3]) for mark in item.marks]}


def _part(part: Any) -> tuple[Said, str]:
    said = None
    if isinstance(part, dict):
        said = part.get("text")
        part = [part.get("start"), part.get("end"), part.get("label", part.get("type"))]
    is_span = isinstance(part, list) and len(part) == 3
    if not is_span or [type(edge) for edge in part[:2]] != [int, int]:
        raise InputError(f"a mark is not [start, end, type]: {part!r:.60}")
    return Said(part[0], part[1], said if isinstance(said, str) else None), type_of(part[2])
