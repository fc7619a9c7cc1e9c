"""Prodigy's JSONL of named entities (ner.manual, ner.correct): text, tokens, spans, answer."""

from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import (
    ACCEPTED,
    REJECTED,
    SKIPPED,
    SUGGESTED,
    AnnotatedText,
    Mark,
    listed,
    marks_at,
    offset_of,
    text_of,
    type_of,
)
from uanet_tf.formats.offsets import Said, mend

_STATUSES = {"accept": ACCEPTED, "reject": REJECTED, "ignore": SKIPPED}


def write(item: AnnotatedText) -> dict[str, Any]:
    """One line. Tokens let Prodigy's interface snap to them; ``ws``: whether a blank follows."""
    record: dict[str, Any] = {"text": item.text}
    first = {start: number for number, (start, _) in enumerate(item.tokens or ())}
    last = {end: number for number, (_, end) in enumerate(item.tokens or ())}
    if item.tokens is not None:
        record["tokens"] = [
            {
                "text": item.text[start:end],
                "start": start,
                "end": end,
                "id": number,
                "ws": item.text[end : end + 1].isspace(),
            }
            for number, (start, end) in enumerate(item.tokens)
        ]
    record["spans"] = [_span(mark, first, last) for mark in item.marks]
    if item.score is not None:
        record["score"] = item.score
    if item.id is not None:
        record["id"] = item.id
    if item.meta:
        record["meta"] = item.meta
    if item.status != SUGGESTED:
        record["answer"] = "accept"
    return record


def _span(mark: Mark, first: dict[int, int], last: dict[int, int]) -> dict[str, Any]:
    span: dict[str, Any] = {"start": mark.start, "end": mark.end}
    if mark.start in first and mark.end in last:
        # The last token of the span, not the one after it.
        span |= {"token_start": first[mark.start], "token_end": last[mark.end]}
    span["label"] = mark.label
    return span if mark.score is None else {**span, "score": mark.score}


def matches(record: dict[str, Any]) -> bool:
    """Whether a record is one of this format."""
    tokens = record.get("tokens")
    return bool({"_input_hash", "_task_hash", "answer"} & record.keys()) or (
        "text" in record
        and "spans" in record
        and isinstance(tokens, list)
        and all(isinstance(one, dict) for one in tokens)
    )


def text_key(record: dict[str, Any]) -> int | str | None:
    """Equal in the records that several annotators give for a text."""
    key = record.get("_input_hash")
    return key if isinstance(key, int | str) else None


def read(record: dict[str, Any]) -> AnnotatedText:
    """One line of ``prodigy db-out``; a line without spans has none if it has tokens."""
    text = text_of(record)
    tokens, spans = record.get("tokens"), record.get("spans")
    status = _STATUSES.get(record.get("answer", ""), SUGGESTED)
    if "spans" not in record and "tokens" not in record and status not in (REJECTED, SKIPPED):
        raise InputError(
            f'has neither "spans" nor "tokens", as Prodigy\'s texts with entities have; its keys '
            f"are {listed(record)}."
        )
    spans = spans or []
    mended = mend(text, [_said(part) for part in (*(tokens or ()), *spans)])
    cut, places = mended.spans[: len(tokens or ())], mended.spans[len(tokens or ()) :]
    for (start, end), span in zip(places, spans, strict=True):
        numbers = span.get("token_start"), span.get("token_end")
        if tokens and None not in numbers:
            first, last = (cut[number] for number in numbers)
            if not (first[0] <= start and end <= last[1]):
                raise InputError(
                    f"the span at characters {start} to {end} is not within its tokens, "
                    f"{numbers[0]} to {numbers[1]}"
                )
    return AnnotatedText(
        text=text,
        marks=marks_at(places, (type_of(span.get("label")) for span in spans)),
        tokens=None if tokens is None else tuple(cut),
        status=status,
        counted=mended.how,
    )


def _said(part: dict[str, Any]) -> Said:
    text = part.get("text")
    said = text if isinstance(text, str) else None
    return Said(offset_of(part["start"]), offset_of(part["end"]), said)
