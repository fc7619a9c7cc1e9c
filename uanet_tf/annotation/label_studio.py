"""Label Studio's tasks: a JSON list; suggestions are "predictions", a person's are "annotations".

The labelling interface that they fit is

    <View><Labels name="label" toName="text"><Label value="PER"/>...</Labels>
    <Text name="text" value="$text"/></View>

Exports are read in the formats "JSON" and "JSON-MIN". Offsets are code points; releases before
1.7 wrote UTF-16 units, which are recognised by the text that is given beside them.
"""

from typing import Any

from uanet_tf.annotation.annotated_text import (
    ACCEPTED,
    REJECTED,
    SKIPPED,
    SUGGESTED,
    AnnotatedText,
    Mark,
)
from uanet_tf.errors import InputError

_MODEL = "uanet_tf"
_OWN = ("tokens", "score", "id", "meta", "rejected")


def write(item: AnnotatedText) -> dict[str, Any]:
    """One task."""
    data: dict[str, Any] = {"text": item.text}
    if item.tokens is not None:
        data["tokens"] = [list(token) for token in item.tokens]
    data |= {key: value for key in ("score", "id") if (value := getattr(item, key)) is not None}
    if item.meta:
        data["meta"] = item.meta
    results = [_result(number, mark, item.text) for number, mark in enumerate(item.marks)]
    if item.status == SUGGESTED:
        prediction: dict[str, Any] = {"model_version": _MODEL, "result": results}
        if item.score is not None:
            prediction["score"] = item.score
        return {"data": data, "predictions": [prediction]}
    if item.status == REJECTED:  # Label Studio has no word for it
        data["rejected"] = True
    cancelled = item.status == SKIPPED
    return {"data": data, "annotations": [{"result": results, "was_cancelled": cancelled}]}


def read(record: dict[str, Any]) -> AnnotatedText:
    """One task of an export; a person's marks before a model's, the last of several persons'."""
    if "data" not in record:
        return _read_compact(record)
    data = record["data"]
    status, results = _chosen(record)
    if data.get("rejected"):
        status = REJECTED
    tokens = data.get("tokens")
    return AnnotatedText(
        text=data["text"],
        marks=_marks(data["text"], results),
        tokens=None if tokens is None else tuple((start, end) for start, end in tokens),
        status=status,
        score=data.get("score"),
        id=data.get("id", record.get("id")),
        meta=data.get("meta", {key: data[key] for key in data if key not in ("text", *_OWN)}),
    )


def _chosen(record: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    annotations = record.get("annotations", record.get("completions")) or []
    kept = [part for part in annotations if not part.get("was_cancelled")]
    if kept:
        # What is marked as ground truth before what is not.
        chosen = max(
            enumerate(kept), key=lambda pair: (pair[1].get("ground_truth", False), pair[0])
        )
        return ACCEPTED, chosen[1]["result"]
    if annotations:
        return SKIPPED, annotations[-1]["result"]
    predictions = record.get("predictions") or [{"result": []}]
    return SUGGESTED, predictions[-1]["result"]


def _read_compact(record: dict[str, Any]) -> AnnotatedText:
    """JSON-MIN: the data with the results beside them, under the name of the control."""
    results, meta = [], {}
    for key, value in record.items():
        if isinstance(value, list) and value and all(_is_region(part) for part in value):
            results += [{"value": part, "type": "labels"} for part in value]
        elif key not in ("text", "id"):
            meta[key] = value
    text = record["text"]
    return AnnotatedText(
        text, _marks(text, results), status=ACCEPTED, id=record.get("id"), meta=meta
    )


def _is_region(part: Any) -> bool:
    return isinstance(part, dict) and {"start", "end", "labels"} <= part.keys()


def _result(number: int, mark: Mark, text: str) -> dict[str, Any]:
    result = {
        "id": f"e{number}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {
            "start": mark.start,
            "end": mark.end,
            "text": text[mark.start : mark.end],
            "labels": [mark.label],
        },
    }
    return result if mark.score is None else {**result, "score": mark.score}


def _marks(text: str, results: list[dict[str, Any]]) -> tuple[Mark, ...]:
    marks = []
    for result in results:
        value = result.get("value", {})
        if result.get("type") != "labels" or not _is_region(value):
            continue  # relations, choices, ...
        start, end = _code_points(text, value)
        marks += [Mark(start, end, label, result.get("score")) for label in value["labels"]]
    return tuple(sorted(marks, key=lambda mark: mark[:2]))


def _code_points(text: str, value: dict[str, Any]) -> tuple[int, int]:
    start, end = int(value["start"]), int(value["end"])
    inside = value.get("text")
    if inside is None or text[start:end] == inside:
        return start, end
    units = text.encode("utf-16-le")
    try:
        before, found = units[: 2 * start].decode("utf-16-le"), units[2 * start : 2 * end]
        if found.decode("utf-16-le") == inside:
            return len(before), len(before) + len(inside)
    except UnicodeDecodeError:
        pass
    raise InputError(f"characters {start} to {end} read {text[start:end]!r}, not {inside!r}.")
