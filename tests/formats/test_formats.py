"""Formats of annotation tools: written, read again, and as the tools themselves export them."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.records import read_annotations
from uanet_tf.errors import InputError
from uanet_tf.formats.annotated_text import AnnotatedText, Mark
from uanet_tf.formats.table import FORMATS, TOOLS, write_annotations

scores = st.none() | st.floats(0, 1)
# Emoji, combining marks, right to left, line ends, blanks, invisible characters.
letters = st.sampled_from(
    [*'aé東😀 \u00a0\n"-\u200f\u00ad\u2066', "👩\u200d🚒", "e\u0301", "שלום", "\r\n"]
)


@st.composite
def texts(draw):
    text = "x" + "".join(draw(st.lists(letters, max_size=12)))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pieces = list(zip(cuts[::2], cuts[1::2], strict=False))
    kept = [piece for piece in pieces if draw(st.booleans())]
    marks = tuple(
        Mark(*piece, draw(st.sampled_from(["PER", "LOC-x", "道"])), draw(scores)) for piece in kept
    )
    return AnnotatedText(
        text,
        marks,
        tokens=tuple(pieces) if draw(st.booleans()) else None,
        status=draw(st.sampled_from(["suggested", "accepted"])),
        score=draw(scores),
        id=draw(st.none() | st.integers(0, 99) | st.sampled_from(["a-1", "7"])),
        meta=draw(st.dictionaries(st.sampled_from(["source", "year"]), st.text(max_size=5))),
    )


def plain(item):
    """What is read of a text: scores and what belongs to it are for the tools."""
    return item.text, [mark[:3] for mark in item.marks], item.tokens, item.status


def through(items, tool):
    stream = io.StringIO()
    write_annotations(items, stream, tool)
    return list(read_annotations(io.StringIO(stream.getvalue()), tool, "file"))


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=60, deadline=None)
@given(items=st.lists(texts(), max_size=3))
def test_there_and_back(tool, items):
    assert list(map(plain, through(items, tool))) == list(map(plain, items))


ITEM = AnnotatedText(
    "Ann saw 😀 Oslo .",
    (Mark(0, 3, "PER", 0.9), Mark(10, 14, "LOC", 0.4)),
    tokens=((0, 3), (4, 7), (8, 9), (10, 14), (15, 16)),
    score=0.7,
    id=5,
    meta={"source": "x"},
)


def records(tool, items):
    stream = io.StringIO()
    write_annotations(items, stream, tool)
    text = stream.getvalue()
    return json.loads(text) if FORMATS[tool].is_list else list(map(json.loads, text.splitlines()))


def test_label_studio_by_hand():
    (task,) = records("label_studio", [ITEM])
    (prediction,) = task["predictions"]
    assert task["data"]["text"] == ITEM.text
    assert prediction["score"] == 0.7
    assert prediction["result"][1] == {
        "id": "e1",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {"start": 10, "end": 14, "text": "Oslo", "labels": ["LOC"]},
        "score": 0.4,
    }


def test_doccano_by_hand():
    (line,) = records("doccano", [ITEM])
    assert line["text"] == ITEM.text
    assert line["label"] == [[0, 3, "PER"], [11, 15, "LOC"]]  # UTF-16 units: one is an emoji
    assert line["source"] == "x"


def test_prodigy_by_hand():
    (line,) = records("prodigy", [ITEM])
    assert line["tokens"][3] == {"text": "Oslo", "start": 10, "end": 14, "id": 3, "ws": True}
    assert line["tokens"][4]["ws"] is False
    span = {"start": 10, "end": 14, "token_start": 3, "token_end": 3, "label": "LOC", "score": 0.4}
    assert line["spans"][1] == span
    assert "answer" not in line


def test_argilla_by_hand():
    (record,) = records("argilla", [ITEM])
    assert record["id"] == "5"
    assert record["fields"] == {"text": ITEM.text}
    assert record["suggestions"] == {
        "entities": {
            "value": [
                {"start": 0, "end": 3, "label": "PER"},
                {"start": 11, "end": 15, "label": "LOC"},
            ],
            "score": [0.9, 0.4],
            "agent": "uanet_tf",
        }
    }


def read_one(tool, record):
    (item,) = read_annotations([json.dumps(record)], tool, "file")
    return item


def test_label_studio_compact_export_of_our_own_tasks():
    (task,) = records("label_studio", [ITEM])
    regions = [result["value"] for result in task["predictions"][0]["result"]]
    read = read_one("label_studio", {**task["data"], "label": regions, "annotator": 1})
    assert plain(read) == (*plain(ITEM)[:3], "accepted")


def test_doccano_after_a_person_and_with_relations():
    (line,) = records("doccano", [ITEM])
    exported = {"id": 77, **line, "Comments": []}
    assert plain(read_one("doccano", exported)) == plain(ITEM)
    exported["label"] = [[11, 15, "LOC"]]
    changed = read_one("doccano", exported)
    assert changed.status == "accepted"
    assert changed.marks == (Mark(10, 14, "LOC"),)
    entities = [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}]
    related = {"id": 1, "text": "Ann", "entities": entities, "relations": [], "Comments": []}
    assert read_one("doccano", related) == ANN
    assert read_one("doccano", {"data": "Ann", "label": []}).text == "Ann"


ANN = AnnotatedText("Ann", (Mark(0, 3, "PER"),), status="accepted")


# Record(...).to_dict() of Argilla 2.8.0.
OF_ARGILLA = """
[{"id": "7", "fields": {"text": "Ann saw Oslo ."}, "metadata": {"source": "x"}, "suggestions":
{"entities": {"value": [{"start": 0, "end": 3, "label": "PER"}, {"start": 8, "end": 12, "label":
"LOC"}], "score": [0.9, 0.4], "agent": "m"}}, "responses": {}, "vectors": {}, "status": "pending",
"_server_id": null}, {"id": "8", "fields": {"text": "Ann saw Oslo ."}, "metadata": {},
"suggestions": {}, "responses": {"entities": [{"value": [{"start": 0, "end": 3, "label": "PER"}],
"user_id": "00000000-0000-0000-0000-000000000005"}]}, "vectors": {}, "status": "pending",
"_server_id": null}]"""


def test_what_argilla_itself_writes():
    suggested, accepted = read_annotations(io.StringIO(OF_ARGILLA), "argilla", "file")
    marks = (Mark(0, 3, "PER"), Mark(8, 12, "LOC"))
    assert suggested == AnnotatedText("Ann saw Oslo .", marks)
    assert accepted == AnnotatedText("Ann saw Oslo .", marks[:1], status="accepted")
    # What it asks of a record: these keys, and no others.
    asked = json.loads(OF_ARGILLA)[0].keys() - {"status", "_server_id"}
    assert records("argilla", [suggested])[0].keys() == asked


@pytest.mark.parametrize(
    ("tool", "text", "message"),
    [
        (
            "doccano",
            '{"text": "Ann", "label": [[0, 9, "PER"]]}',
            "file:1: characters 0 to 9 are no",
        ),
        (
            "doccano",
            '\n{"text": "Ann", "label": [[0]]}',
            "file:2: a mark is not [start, end, type]: [0]",
        ),
        ("doccano", "{}", 'file:1: has no text under "text", "data"; its keys are none.'),
        ("doccano", "text", "file:1: not JSON"),
        ("doccano", '{"text": null, "label": []}', 'file:1: has no text under "text", "data"'),
        ("prodigy", '{"spans": []}', 'file:1: has no text under "text"; its keys are "spans".'),
        ("label_studio", '[{"data": {}}]', 'file: record 1: has no "data" with "annotations"'),
        ("label_studio", '[{"data": {}}', "file: not JSON"),
        ("label_studio", "[3]", "file: record 1: not a JSON object"),
        ("argilla", '[{"fields": {"n": 1}}]', 'file: record 1: has no "fields" with "responses"'),
        ("doccano", "[" * 100_000, "file: not JSON: it is nested too deeply"),
        ("doccano", f'{{"id": {"9" * 5000}}}', "file:1: not JSON: Exceeds the limit"),
        (
            "doccano",
            '{"text": "Ann", "label": [[0, Infinity, "PER"]]}',
            "file:1: not a record of doccano: cannot convert float infinity",
        ),
        ("prodigy", '{"text": "\\ud800"}', "file:1: not JSON: it holds half of a character"),
        ("spacy", '{"text": "Ann"}', "file:1: has none of the keys that spaCy has its marks"),
    ],
    ids=lambda text: text[:40],
)
def test_messages(tool, text, message):
    with pytest.raises(InputError) as error:
        list(read_annotations(io.StringIO(text), tool, "file"))
    assert str(error.value).startswith(message)


def test_long_texts_are_shown_by_their_start():
    value = {"start": 0, "end": 2, "text": "ä" * 3000, "labels": ["PER"]}
    mark = {"id": "e", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
    record = {"data": {"text": "Ann"}, "predictions": [{"result": [mark]}]}
    with pytest.raises(InputError) as error:
        list(read_annotations(io.StringIO(json.dumps([record])), "label_studio", "file"))
    said = str(error.value)
    assert said.startswith(f"file: record 1: characters 0 to 2 read 'An', not '{'ä' * 50}")
    assert len(said) < 500


def test_empty_files():
    for tool in TOOLS:
        assert through([], tool) == []
        assert list(read_annotations(["\n"], tool, "file")) == []
    assert records("prodigy", [AnnotatedText("a")]) == [{"text": "a", "spans": []}]


def test_either_layout_is_read():
    line = '{"text": "Ann", "label": []}'
    expected = [AnnotatedText("Ann", status="accepted")] * 2
    assert list(read_annotations([f"\ufeff{line}\n", f"{line}\n"], "doccano", "f")) == expected
    assert list(read_annotations([f"[{line},", f"{line}]"], "doccano", "f")) == expected


# ---------------------------------------------------------- what persons made of the texts


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
    task["annotations"] = []
    assert read_one("label_studio", task).marks == (Mark(8, 12, "LOC"),)
    assert read_one("label_studio", task).status == "suggested"


def _region(value):
    relation = {"type": "labels", "from_name": "l", "to_name": "t", "value": value}
    return relation | {"origin": "manual"}


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
    data = {"text": "is it", "tokens": ["is", "it"], "score": "high", "meta": "x", "id": None}
    for record in ({"annotator": 1, **data}, {"data": data, "annotations": []}):
        item = read_one("label_studio", record)
        assert (item.tokens, item.score, item.id, item.meta) == (None, None, None, {})


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
