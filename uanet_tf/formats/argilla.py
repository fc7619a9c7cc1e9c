"""Argilla's records (version 2): a JSON list for ``dataset.records.from_json`` and of ``to_json``.

The data set they fit has a text field "text" and a span question "entities" on it. Of others the
question is read whose values are spans. Records of version 1 are read as well, their "annotation".

Argilla counts offsets in UTF-16 units: so they are written (and the metadata say so, where that
differs from code points), and read where code points would cut words and UTF-16 units do not.
"""

from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import (
    ACCEPTED,
    SKIPPED,
    SUGGESTED,
    AnnotatedText,
    listed,
    marks_at,
    offset_of,
    token_places,
    type_of,
)
from uanet_tf.formats.offsets import UTF16, code_points, to_utf16

FIELD, QUESTION = "text", "entities"
_AGENT = "uanet_tf"
_NOBODY = "00000000-0000-0000-0000-000000000000"  # a response must name a user
_GIVEN = (None, "submitted")  # status of a response that counts; the others: draft, discarded
RESERVED = frozenset({"tokens", "score", "counted"})  # no names for ``AnnotatedText.meta``

_FIRST = {"text", "tokens", "prediction", "annotation"}  # keys of version 1

Spans = list[dict[str, Any]]


def matches(record: dict[str, Any]) -> bool:
    """Whether a record is one of this format."""
    asked = "fields" in record and bool({"responses", "suggestions"} & record.keys())
    return asked or record.keys() >= _FIRST


def write(item: AnnotatedText) -> dict[str, Any]:
    """One record; what Argilla has no field for is in its metadata, as JSON values."""
    text = item.text
    value = [
        {"start": to_utf16(text, start), "end": to_utf16(text, end), "label": label}
        for start, end, label, *_ in item.marks
    ]
    metadata = dict(item.meta)
    if item.tokens is not None:
        metadata["tokens"] = [list(token) for token in item.tokens]
    if item.score is not None:
        metadata["score"] = item.score
    if to_utf16(item.text, len(item.text)) > len(item.text):
        metadata["counted"] = UTF16
    scores = [mark.score for mark in item.marks]
    suggestion = {"value": value, "score": None if None in scores else scores or None}
    response = {"value": value, "user_id": _NOBODY}
    suggested = item.status == SUGGESTED
    return {
        "id": None if item.id is None else str(item.id),
        "fields": {FIELD: item.text},
        "metadata": metadata,
        "suggestions": {QUESTION: {**suggestion, "agent": _AGENT}} if suggested else {},
        "responses": {} if suggested else {QUESTION: [response]},
        "vectors": {},
    }


def read(record: dict[str, Any]) -> AnnotatedText:
    """One record of an export: the last person's spans, else the suggestion."""
    if not matches(record):
        raise InputError(
            f'has no "fields" with "responses" or "suggestions", as Argilla\'s records have; its '
            f"keys are {listed(record)}."
        )
    if record.keys() >= _FIRST:
        record = _second(record)
    metadata = record.get("metadata") or {}
    text = _text(record)
    answers, left, suggestion = _of_span_question(record)
    status, value = SUGGESTED, suggestion
    if answers or left:
        status, value = (ACCEPTED, answers[-1]) if answers else (SKIPPED, left[-1])
    read = code_points(text, [_span_key(span)[:2] for span in value], metadata.get("counted"))
    return AnnotatedText(
        text=text,
        marks=marks_at(read.spans, (type_of(span["label"]) for span in value)),
        tokens=token_places(metadata.get("tokens")),
        status=status,
        disputed=len({frozenset(map(_span_key, answer)) for answer in answers}) > 1,
        counted=read.how,
    )


def _second(record: dict[str, Any]) -> dict[str, Any]:
    """A record of version 1, whose spans are [type, start, end] or objects, as one of version 2."""
    names = ("label", "start", "end")
    annotation, suggestion = (
        [p if isinstance(p, dict) else dict(zip(names, p, strict=False)) for p in record[key] or []]
        for key in ("annotation", "prediction")
    )
    left = record.get("status") == "Discarded"
    response = {"value": annotation, "status": "discarded" if left else "submitted"}
    given = left or record["annotation"] is not None
    return {
        "fields": {FIELD: record["text"]},
        "metadata": record.get("metadata"),
        "responses": {QUESTION: [response]} if given else {},
        "suggestions": {QUESTION: {"value": suggestion}},
    }


def _text(record: dict[str, Any]) -> str:
    """The text; of several fields the one called "text", else the first string."""
    fields = record["fields"]
    for value in (fields.get(FIELD), *fields.values()):
        if isinstance(value, str):
            return value
    raise InputError("a record holds no text.")


def _of_span_question(record: dict[str, Any]) -> tuple[list[Spans], list[Spans], Spans]:
    """The answers to the question on spans, those discarded or drafted, and its suggestion.

    Raises InputError where several questions may be meant.
    """
    given = record.get("responses") or {}
    responses = {name: [each.get("value") for each in given[name]] for name in given}
    suggestions = record.get("suggestions") or {}
    values = {
        question: [*responses.get(question, ()), suggestions.get(question, {}).get("value")]
        for question in {**responses, **suggestions}
    }
    # An empty list may be one of spans, so it counts only where no question has any.
    asked = [name for name in values if any(_are_spans(part) and part for part in values[name])]
    asked = asked or [name for name in values if any(_are_spans(part) for part in values[name])][:1]
    if any(_are_spans(part) for part in values.get(QUESTION, ())):
        asked = [QUESTION]
    if len(asked) > 1:
        raise InputError(
            f"the questions {' and '.join(map(repr, asked))} both have spans: name the one that "
            f"is meant {QUESTION!r}."
        )
    if not asked and any(part is not None for value in values.values() for part in value):
        raise InputError(f"has no question on spans; its questions are {listed(values)}.")
    question = asked[0] if asked else QUESTION
    answers: list[Spans] = []
    left: list[Spans] = []
    for each in given.get(question, ()):
        value, counts = each.get("value"), each.get("status") in _GIVEN
        if _are_spans(value):
            (answers if counts else left).append(value)
        elif value is None and not counts:  # discarded as it was
            left.append([])
    suggested = suggestions.get(question, {}).get("value")
    return answers, left, suggested if _are_spans(suggested) else []


def _are_spans(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(part, dict) and {"start", "end", "label"} <= part.keys() for part in value
    )


def _span_key(span: dict[str, Any]) -> tuple[int, int, str]:
    return offset_of(span["start"]), offset_of(span["end"]), str(span["label"])
