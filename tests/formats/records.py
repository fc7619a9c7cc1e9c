"""Records of annotation tools, read and written."""

import json

from uanet_tf.formats import doccano
from uanet_tf.formats.table import FORMATS, read_records


def read_annotations(pieces, tool, name):
    return (item for _, item in read_records(pieces, tool, name))


def handed_to(tool, text):
    """What a file hands to a tool: (text, score, {mark: its score}, id, what else) of each."""
    records = json.loads(text) if FORMATS[tool].is_list else map(json.loads, text.splitlines())
    return [_handed(tool, record) for record in records]


def _handed(tool, record):
    if tool == "label_studio":
        data, (prediction,) = record["data"], record["predictions"]
        assert prediction.get("score") == data.get("score")
        marks = {
            (each["value"]["start"], each["value"]["end"], *each["value"]["labels"]): each["score"]
            for each in prediction["result"]
        }
        return data["text"], data.get("score"), marks, data.get("id"), data.get("meta", {})
    if tool == "doccano":
        marks = {tuple(place): score for *place, score in record["suggested"]}
        meta = {key: record[key] for key in record if key not in doccano.RESERVED}
        return record["text"], record.get("score"), marks, record.get("name"), meta
    if tool == "prodigy":
        spans = record["spans"]
        marks = {(each["start"], each["end"], each["label"]): each["score"] for each in spans}
        return record["text"], record.get("score"), marks, record.get("id"), record.get("meta", {})
    meta, asked = record["metadata"], record["suggestions"]["entities"]
    meta.pop("tokens", None)
    places = [(each["start"], each["end"], each["label"]) for each in asked["value"]]
    marks = dict(zip(places, asked["score"] or [], strict=True))
    return record["fields"]["text"], meta.pop("score", None), marks, record["id"], meta
