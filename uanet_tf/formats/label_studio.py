"""Label Studio's tasks: a JSON list; suggestions are "predictions", a person's are "annotations".

The labelling interface that they fit is

    <View><Labels name="label" toName="text"><Label value="PER"/>...</Labels>
    <Text name="text" value="$text"/></View>

Exports are read in the formats "JSON" and "JSON-MIN". Offsets are code points, in which a browser
counts CR LF as one; releases before 1.7 wrote UTF-16 units. Both are recognised by the text that is
given beside the regions. Regions of other than plain text (HyperText, Paragraphs) are refused.
"""

import contextlib
import json
from collections.abc import Hashable
from typing import Any

from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import (
    ACCEPTED,
    SKIPPED,
    SUGGESTED,
    AnnotatedText,
    Mark,
    listed,
    offset_of,
    text_of,
    token_places,
    type_of,
)
from uanet_tf.formats.offsets import Said, mend

_MODEL = "uanet_tf"
Results = list[dict[str, Any]]

# What a person's work leaves in a record of JSON-MIN, beside the data.
_COMPACT = ("annotator", "annotation_id", "completed_by", "lead_time")
_PARTS = ("annotations", "completions", "predictions")
_CONTROL = {"from_name": "label", "to_name": "text", "type": "labels"}  # of the interface above


def matches(record: dict[str, Any]) -> bool:
    """Whether a record is one of this format."""
    if isinstance(record.get("data"), dict):
        return any(key in record for key in _PARTS)
    return any(key in record for key in _COMPACT) or any(map(_kind_of_regions, record.values()))


def write(item: AnnotatedText) -> dict[str, Any]:
    """One task."""
    data: dict[str, Any] = {"text": item.text}
    if item.tokens is not None:
        data["tokens"] = [list(token) for token in item.tokens]
    data |= {key: value for key in ("score", "id") if (value := getattr(item, key)) is not None}
    if item.meta:
        data["meta"] = item.meta
    results = [_result(number, mark, item.text) for number, mark in enumerate(item.marks)]
    if item.status != SUGGESTED:
        return {"data": data, "annotations": [{"result": results}]}
    prediction: dict[str, Any] = {"model_version": _MODEL, "result": results}
    if item.score is not None:
        prediction["score"] = item.score
    return {"data": data, "predictions": [prediction]}


def text_key(record: dict[str, Any]) -> Hashable:
    """Equal for the annotations of a task, each of which is a record of JSON-MIN."""
    name = record.get("id")
    if "data" in record or type(name) not in (int, str):
        return None
    return name, _text(_compact(record)[0])


def read(record: dict[str, Any]) -> AnnotatedText:
    """One task of an export; a person's marks before a model's, the last of several persons'."""
    if not matches(record):
        raise InputError(
            f'has no "data" with {listed(_PARTS)}, nor regions beside its text (JSON-MIN); its '
            f"keys are {listed(record)}."
        )
    if "data" in record:
        data = record["data"]
        status, chosen, others = _chosen(record)
    else:
        data, chosen = _compact(record)
        status, others = ACCEPTED, []
    text = _text(data)
    marks, unlabelled, how = _marks(text, chosen)
    keys = _keys(chosen)
    return AnnotatedText(
        text=text,
        marks=marks,
        tokens=token_places(data.get("tokens")),
        status=status,
        unlabelled=unlabelled,
        disputed=any(_keys(other) != keys for other in others),
        counted=how,
    )


def _text(data: dict[str, Any]) -> str:
    """The text of a task, which the interface may call otherwise."""
    strings = [key for key in data if isinstance(data[key], str)]
    return text_of(data, strings if "text" not in data and len(strings) == 1 else ("text",))


def _chosen(record: dict[str, Any]) -> tuple[str, Results, list[Results]]:
    """Status, the regions that count, and those of other persons."""
    annotations = record.get("annotations", record.get("completions")) or []
    kept = [part for part in annotations if not part.get("was_cancelled")]
    if kept:
        # What is marked as ground truth before what is not.
        chosen, _ = max(
            enumerate(kept), key=lambda pair: (pair[1].get("ground_truth", False), pair[0])
        )
        others = [part["result"] for number, part in enumerate(kept) if number != chosen]
        return ACCEPTED, kept[chosen]["result"], others
    if annotations:
        return SKIPPED, annotations[-1]["result"], []
    predictions = record.get("predictions") or [{"result": []}]
    return SUGGESTED, predictions[-1]["result"], []


def _compact(record: dict[str, Any]) -> tuple[dict[str, Any], Results]:
    """The data of JSON-MIN, and the results beside them, under the name of the control."""
    results: Results = []
    data = {}
    for key, value in record.items():
        if isinstance(value, str) and value.startswith("[{"):  # as in its CSV
            with contextlib.suppress(ValueError):
                value = json.loads(value)
        kind = _kind_of_regions(value)
        if kind is None:
            data[key] = value
        else:
            results += [{"value": part, "type": kind} for part in value]
    return data, results


def _kind_of_regions(value: Any) -> str | None:
    """The type of the regions that a value of JSON-MIN is; None: it is something else."""
    parts = [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
    return next((key for part in parts for key in part if key.endswith("labels")), None)


def _result(number: int, mark: Mark, text: str) -> dict[str, Any]:
    start, end, label = mark[:3]
    value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    result = {"id": f"e{number}", **_CONTROL, "value": value}
    return result if mark.score is None else {**result, "score": mark.score}


def _marks(text: str, results: Results) -> tuple[tuple[Mark, ...], int, str]:
    """The marks, how many regions have no label, and how their offsets are counted."""
    regions, unlabelled = [], 0
    for result in results:
        value = result.get("value", {})
        kind = result.get("type") or ("labels" if "labels" in value else None)
        if isinstance(kind, str) and kind.endswith("labels") and kind != "labels":
            raise InputError(
                f"regions of type {kind!r} are not read: only 'labels' mark characters of the text."
            )
        if kind != "labels":
            continue  # relations, choices, ...
        unlabelled += not value.get("labels")
        if value.get("labels"):
            regions.append(value)
    said = [
        Said(offset_of(value["start"]), offset_of(value["end"]), value.get("text"))
        for value in regions
    ]
    mended = mend(text, said)
    marks = [
        Mark(start, end, type_of(label))
        for (start, end), value in zip(mended.spans, regions, strict=True)
        for label in value["labels"]
    ]
    return tuple(sorted(marks, key=lambda mark: mark[:2])), unlabelled, mended.how


def _keys(results: Results) -> set[str]:
    """The regions with labels, to be compared."""
    values = [result.get("value", {}) for result in results if result.get("type") == "labels"]
    return {
        repr((value.get("start"), value.get("end"), sorted(value["labels"])))
        for value in values
        if value.get("labels")
    }
