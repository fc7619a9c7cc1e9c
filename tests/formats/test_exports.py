"""What persons made of texts in an annotation tool, as the tools export it."""

import json

import pytest

from tests.formats.records import read_annotations
from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import AnnotatedText, Mark


def read_one(tool, record):
    (item,) = read_annotations([json.dumps(record)], tool, "file")
    return item


def test_label_studio_takes_the_persons_marks_and_the_one_who_finished():
    region = {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}
    other = {"start": 8, "end": 12, "text": "Oslo", "labels": ["LOC"]}
    task = {
        "id": 9,
        "data": {"text": "Ann saw Oslo .", "source": "x"},
        "annotations": [
            {"result": [_region(region)], "was_cancelled": False, "ground_truth": False},
            {"result": [_region(other)], "was_cancelled": True},
        ],
        "predictions": [{"result": [_region(other)], "score": 0.3}],
    }
    item = read_one("label_studio", task)
    assert (item.marks, item.status) == ((Mark(0, 3, "PER"),), "accepted")
    assert (item.id, item.meta) == (9, {"source": "x"})
    task["annotations"] = []
    assert read_one("label_studio", task).marks == (Mark(8, 12, "LOC"),)
    assert read_one("label_studio", task).status == "suggested"


def _region(value):
    relation = {"type": "labels", "from_name": "l", "to_name": "t", "value": value}
    return relation | {"origin": "manual"}


def test_label_studio_compact_export_and_other_controls():
    record = {
        "id": 3,
        "text": "Ann saw Oslo .",
        "entity": [{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}],
        "annotator": 1,
    }
    item = read_one("label_studio", record)
    assert (item.marks, item.status, item.id) == ((Mark(0, 3, "PER"),), "accepted", 3)
    task = {
        "data": {"text": "Ann saw Oslo ."},
        "annotations": [
            {"result": [{"type": "choices", "value": {"choices": ["good"]}}, {"type": "relation"}]}
        ],
    }
    assert read_one("label_studio", task).marks == ()


def test_label_studio_offsets_in_utf_16_units_are_mended_and_wrong_ones_are_told():
    value = {"start": 3, "end": 7, "text": "Oslo", "labels": ["LOC"]}  # 😀 counted twice
    task = {"data": {"text": "😀 Oslo ."}, "annotations": [{"result": [_region(value)]}]}
    assert read_one("label_studio", task).marks == (Mark(2, 6, "LOC"),)
    value["text"] = "Rome"
    with pytest.raises(InputError, match="file:1: characters 3 to 7 read 'slo ', not 'Rome'"):
        read_one("label_studio", task)


@pytest.mark.parametrize(
    ("text", "start", "end", "inside", "found"),
    [
        ("in New\nYork now", 3, 11, "New\\nYork", "New\nYork"),
        ("in New\r\nYork", 3, 12, "New\\r\\nYork", "New\r\nYork"),
        ("to New   York.", 3, 13, "New York", "New   York"),
        ("to Rome now", 3, 8, "Rome", "Rome "),
        ("😀 New  York.", 3, 12, "New York", "New  York"),  # UTF-16
    ],
)
def test_label_studio_changes_blanks_in_the_text_of_regions(text, start, end, inside, found):
    value = {"start": start, "end": end, "text": inside, "labels": ["LOC"]}
    task = {"data": {"text": text}, "annotations": [{"result": [_region(value)]}]}
    (mark,) = read_one("label_studio", task).marks
    assert text[mark.start : mark.end] == found


@pytest.mark.parametrize("kind", ["hypertextlabels", "paragraphlabels"])
def test_label_studio_regions_that_are_not_of_the_text_are_refused(kind):
    value = {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", kind: ["PER"]}
    message = f"file:1: regions of type '{kind}' are not read: only 'labels'"
    task = {"data": {"text": "<p>Ann</p>"}, "annotations": [{"result": []}]}
    task["annotations"][0]["result"].append({"type": kind, "value": value})
    for record in (task, {"text": "<p>Ann</p>", "label": [value]}):
        with pytest.raises(InputError, match=message):
            read_one("label_studio", record)


def test_label_studio_regions_without_a_label_are_counted():
    bare = {"start": 0, "end": 3, "text": "Ann"}
    empty, good = {**bare, "labels": []}, {**bare, "labels": ["PER"]}
    regions = [bare, empty, good]
    task = {"data": {"text": "Ann"}, "annotations": [{"result": list(map(_region, regions))}]}
    for record in (task, {"text": "Ann", "label": regions}):
        item = read_one("label_studio", record)
        assert (item.marks, item.unlabelled) == ((Mark(0, 3, "PER"),), 2)


def test_label_studio_data_of_the_user_under_our_names():
    data = {"tokens": ["is", "it"], "score": "high", "meta": "x", "rejected": "no", "id": None}
    for record in (
        {"text": "is it", "annotator": 1, **data},
        {"data": {"text": "is it", "annotator": 1, **data}, "annotations": []},
    ):
        item = read_one("label_studio", record)
        assert item.meta.pop("annotator") == 1
        assert (item.tokens, item.score, item.id, item.meta) == (None, None, None, data)


def test_annotations_that_differ():
    """The last counts, and it is said that there is another."""
    ann, rio = {"start": 0, "end": 3, "label": "PER"}, {"start": 4, "end": 7, "label": "LOC"}

    def studio(*answers):
        regions = [
            [_region({**span, "labels": [span["label"]], "text": None}) for span in answer]
            for answer in answers
        ]
        return {"data": {"text": "Ann Rio"}, "annotations": [{"result": one} for one in regions]}

    def argilla(*answers):
        given = [{"value": answer, "user_id": "u"} for answer in answers]
        return {"fields": {"text": "Ann Rio"}, "responses": {"entities": given}}

    for tool, record in (("label_studio", studio), ("argilla", argilla)):
        same = read_one(tool, record([ann, rio], [rio, ann]))
        assert (len(same.marks), same.disputed) == (2, False)
        other = read_one(tool, record([ann, rio], [ann]))
        assert (other.marks, other.disputed) == ((Mark(0, 3, "PER"),), True)


def test_prodigy_records_of_one_text():
    ann = {"start": 0, "end": 3, "label": "PER"}

    def read(*given):
        lines = [
            json.dumps({"text": "Ann", "_input_hash": number, "spans": spans, "answer": answer})
            for number, spans, answer in given
        ]
        items = read_annotations(lines, "prodigy", "file")
        return [(len(item.marks), item.status, item.disputed) for item in items]

    assert read((1, [ann], "accept"), (2, [], "accept"), (1, [], "accept")) == [
        (0, "accepted", True),
        (0, "accepted", False),
    ]
    assert read((1, [], "accept"), (1, [ann], "accept")) == [(1, "accepted", True)]
    assert read((1, [ann], "accept"), (1, [ann], "accept")) == [(1, "accepted", False)]
    assert read((1, [ann], "accept"), (1, [], "ignore")) == [(1, "accepted", False)]
    assert read((1, [ann], "accept"), (1, [ann], "reject")) == [(1, "rejected", True)]
    assert read((1, [], "ignore"), (1, [ann], "ignore")) == [(1, "skipped", False)]
    assert len(read((None, [], "accept"), (None, [], "accept"))) == 2


def test_prodigy_answers():
    line = {"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PER"}], "_task_hash": -1}
    for answer, status in (("accept", "accepted"), ("reject", "rejected"), ("ignore", "skipped")):
        assert read_one("prodigy", {**line, "answer": answer}).status == status
    assert read_one("prodigy", line).status == "suggested"


def test_argilla_takes_the_persons_spans():
    record = {
        "id": "r1",
        "fields": {"content": "Ann saw Oslo ."},
        "metadata": {"n": 1},
        "suggestions": {"span": {"value": [], "score": None, "agent": "m"}},
        "responses": {
            "span": [{"value": [{"label": "PER", "start": 0, "end": 3}], "user_id": "u"}],
            "quality": [{"value": "good", "user_id": "u"}],
        },
        "status": "completed",
        "_server_id": "s",
    }
    item = read_one("argilla", record)
    assert item == AnnotatedText(
        "Ann saw Oslo .", (Mark(0, 3, "PER"),), status="accepted", id="r1", meta={"n": 1}
    )


@pytest.mark.parametrize("name", ["entities", "span"])
def test_argilla_beside_other_questions(name):
    spans = [{"label": "PER", "start": 0, "end": 3}]
    record = {
        "fields": {"text": "Ann saw Oslo ."},
        "suggestions": {
            "topic": {"value": "news"},
            name: {"value": spans},
            "all": {"value": ["a"]},
        },
        "responses": {"topics": [{"value": ["news", "people"], "user_id": "u"}]},
    }
    item = read_one("argilla", record)
    assert (item.marks, item.status) == ((Mark(0, 3, "PER"),), "suggested")
    record["responses"][name] = [{"value": [], "user_id": "u"}]
    item = read_one("argilla", record)
    assert (item.marks, item.status) == ((), "accepted")
    record["responses"]["other"] = [{"value": spans, "user_id": "u"}]
    if name == "entities":
        assert read_one("argilla", record) == item
        return
    with pytest.raises(InputError, match="file:1: the questions 'span' and 'other' both have"):
        read_one("argilla", record)
