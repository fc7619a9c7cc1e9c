"""Files of every format, read right or refused with file and line."""

import json

import pytest

from uanet_lite.notes import Notes
from uanet_tf.errors import InputError
from uanet_tf.formats.table import Reading, read_labelled
from uanet_tf.settings import DataConfig


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="a.jsonl"):
        path = tmp_path / name
        if not isinstance(content, str):
            records = content if isinstance(content, list) else [content]
            content = "".join(json.dumps(record) + "\n" for record in records)
        path.write_bytes(content.encode())
        return str(path)

    return write_file


def rows(path, notes=None, **reading):
    found = read_labelled(path, Reading(**reading), notes)
    return [
        f"{token} {label}"
        for sentence in found
        for token, label in zip(sentence.tokens, sentence.labels, strict=True)
    ]


def refusal(path, **reading):
    with pytest.raises(InputError) as error:
        read_labelled(path, Reading(**reading))
    return str(error.value)


ANNA = ["Anna B-PER", "saw O", "Oslo B-LOC", ". O"]
TEXT = "Anna saw Oslo ."
SPANS = [[0, 4, "PER"], [9, 13, "LOC"]]
OFFSETS = [
    {"start_offset": start, "end_offset": end, "label": label} for start, end, label in SPANS
]
OBJECTS = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
REGIONS = [
    {"type": "labels", "value": {"start": s, "end": e, "text": TEXT[s:e], "labels": [label]}}
    for s, e, label in SPANS
]


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "entities": SPANS},
        {"text": TEXT, "spans": OBJECTS},
        {"text": TEXT, "label": SPANS},
        {"id": 1, "text": TEXT, "labels": SPANS},
        {"id": 1, "text": TEXT, "annotations": OFFSETS},
        {"text": TEXT, "entities": OFFSETS, "relations": []},
        {"text": TEXT, "spans": OBJECTS, "_input_hash": 1, "answer": "accept", "tokens": None},
        {"data": {"text": TEXT}, "annotations": [{"result": REGIONS}]},
        {"text": TEXT, "label": [r["value"] for r in REGIONS], "annotator": 1},
        {
            "id": "1",
            "fields": {"text": TEXT},
            "responses": {"q": [{"value": OBJECTS}]},
            "suggestions": {},
        },
        {
            "text": TEXT,
            "tokens": TEXT.split(),
            "prediction": None,
            "annotation": [["PER", 0, 4], OBJECTS[1]],
        },
        {"tokens": TEXT.split(), "ner_tags": ["B-PER", "O", "B-LOC", "O"]},
        {"words": TEXT.split(), "labels": ["B-PER", "O", "B-LOC", "O"]},
    ],
    ids=lambda record: ",".join(record),
)
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("as_list", [False, True])
def test_formats_are_told_apart_by_content(write, record, as_list, indent):
    content = json.dumps([record] if as_list else record, indent=indent)
    assert rows(write(content, "a.json")) == ANNA


@pytest.mark.parametrize(
    "text", ['T = [("Anna", {"entities": []})]\n', "[('Anna', {})]", "{'text': 'Anna'}\n"]
)
def test_literals_of_python_are_no_columns(write, text):
    assert "Python's lists, not JSON" in refusal(write(text, "a.txt"))


@pytest.mark.parametrize(
    ("kind", "record", "message"),
    [
        ("auto", {"text": TEXT, "marks": SPANS}, 'its keys are "text", "marks"'),
        ("auto", {"text": TEXT}, 'its keys are "text"'),
        ("spacy", {"text": TEXT, "marks": SPANS}, 'its keys are "text", "marks"'),
        ("doccano", {"text": TEXT, "entity": SPANS}, 'its keys are "text", "entity"'),
        ("prodigy", {"text": TEXT, "label": "X"}, 'its keys are "text", "label"'),
        ("argilla", {"text": TEXT, "spans": []}, 'its keys are "text", "spans"'),
        ("label_studio", {"text": TEXT, "entities": SPANS}, 'its keys are "text", "entities"'),
        ("huggingface", {"tokens": ["a"], "pos_tags": ["X"]}, 'its keys are "tokens", "pos_tags"'),
        ("auto", {"text": TEXT, "labels": ["B-PER", "O"]}, "a mark is not [start, end, type]: 'B-"),
        ("spacy", {"text": TEXT, "entities": {"a": 1}}, '"entities" must be a list'),
        ("auto", {"text": TEXT, "ner": [{"start": 0, "labels": ["PER"]}]}, "there is no 'end'"),
    ],
)
def test_nothing_is_not_taken_for_no_entity(write, kind, record, message):
    said = refusal(write(record), format=kind)
    assert message in said
    assert "a.jsonl:1" in said


RELATIONS = {"text": TEXT, "entities": [], "relations": []}


@pytest.mark.parametrize(
    "records",
    [
        [{"text": TEXT, "label": [], "entities": OFFSETS}],
        [{"text": TEXT, "entities": [], "spans": SPANS}],
        [{"text": TEXT, "label": SPANS, "tokens": TEXT.split()}],
        [[TEXT, {"entities": SPANS}]],
        [{"classes": ["PER"], "annotations": [[TEXT, {"entities": SPANS}], None]}],
        [{"data": {"ner": TEXT}, "annotations": [{"result": REGIONS}]}],
        [{"text": TEXT, "ner": json.dumps([r["value"] for r in REGIONS]), "annotator": 1}],
        [
            {
                "data": {"text": TEXT},
                "annotations": [{"result": [{"value": r["value"]} for r in REGIONS]}],
            }
        ],
    ],
)
def test_marks_are_found_where_a_file_has_them(write, records):
    assert rows(write(records)) == ANNA


def test_the_first_records_may_have_no_marks(write):
    empty = [f"{token} O" for token in TEXT.split()]
    assert rows(write([RELATIONS, {**RELATIONS, "entities": OFFSETS}])) == empty + ANNA
    path = write([{"text": TEXT, "label": None}, {"text": TEXT, "label": SPANS}])
    assert rows(path) == empty + ANNA
    path = write([[TEXT, {"entities": []}], [TEXT, {"entities": SPANS}]])
    assert rows(path) == empty + ANNA
    assert rows(write([{"text": TEXT, "entities": []}, {"text": TEXT, "label": SPANS}])) == (
        empty + ANNA
    )


@pytest.mark.parametrize("kind", [None, "", " ", ["PER"]])
@pytest.mark.parametrize("key", ["label", "entities"])
def test_a_mark_needs_a_type_and_whole_offsets(write, kind, key):
    assert "a.jsonl:1: a mark has no type" in refusal(write({"text": TEXT, key: [[0, 4, kind]]}))
    assert "a.jsonl:1: " in refusal(write({"text": TEXT, key: [[0, 4.5, "PER"]]}))


def test_a_span_of_prodigy_lies_within_its_tokens(write):
    tokens = [{"text": "Anna", "start": 0, "end": 4}, {"text": "saw", "start": 5, "end": 8}]
    span = {"start": 0, "end": 4, "token_start": 1, "token_end": 1, "label": "PER"}
    record = {"text": TEXT, "tokens": tokens, "spans": [span], "answer": "accept"}
    assert "a.jsonl:1: the span at characters 0 to 4 is not within" in refusal(write(record))


@pytest.mark.parametrize("status", ["discarded", "draft"])
def test_responses_that_nobody_submitted(write, status):
    spans = [{"start": 0, "end": 4, "label": "PER"}]
    response = {"value": spans, "user_id": "u", "status": status}
    record = {"fields": {"text": TEXT}, "responses": {"entities": [response]}}
    assert "no person accepted them: 1 skipped" in refusal(write(record))
    response["status"] = "submitted"
    assert rows(write(record))[0] == "Anna B-PER"


def test_folders_of_brat(tmp_path):
    for folder in ("", "deep/er"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "a.txt").write_text(TEXT)
        (tmp_path / folder / "a.ann").write_text("T1\tPER 0 4\tAnna\nR1\tx Arg1:T1 Arg2:T1\n")
    assert rows(str(tmp_path)).count("Anna B-PER") == 2
    (tmp_path / "a.ann").write_text(" T1\tPER 0 4\tAnna\n")
    assert "a.ann:1: no line of brat's" in refusal(str(tmp_path))


def test_what_brat_has_beside_and_between(tmp_path):
    (tmp_path / "a.txt").write_text("left and right arm\nfoot\n")
    (tmp_path / "a.ann").write_text("T1\tBODY 0 4;15 18\tleft arm\nT2\tBODY 19 21;21 23\tfo ot\n")
    (tmp_path / "._a.ann").write_bytes(b"\0")
    (tmp_path / "b.txt").write_text("Anna\n")
    notes = Notes()
    assert rows(str(tmp_path), notes)[3:] == ["arm I-BODY", "foot B-BODY"]
    assert notes.lines() == [
        f"left out, as no .ann file is beside them: 1 texts, first at {tmp_path}/b.txt",
        f"marks in several pieces, read with what is between: 1, first at {tmp_path}/a.ann:1",
    ]


def test_what_nobody_accepted_is_left_out_and_counted(write):
    hashes = {"_input_hash": 1, "_task_hash": 2}
    records = [
        {"text": "Oslo", "spans": [], "answer": "reject", **hashes},
        {"text": "Oslo", "spans": [], "answer": "ignore", **hashes, "_input_hash": 2},
        {"text": "Anna", "spans": [OBJECTS[0]], "answer": "accept", **hashes, "_input_hash": 3},
    ]
    notes = Notes()
    assert rows(write(records), notes) == ["Anna B-PER"]
    said = " ".join(notes.lines())
    assert all(word in said for word in ("rejected", "skipped", "a.jsonl:1"))
    assert "no sentence found" in refusal(write(records[:1]))
    del records[0]["spans"], records[1]["spans"]
    assert rows(write(records)) == ["Anna B-PER"]


def test_a_discarded_response_may_be_empty(write):
    responses = {"q": [{"value": None, "status": "discarded"}]}
    record = {"fields": {"text": TEXT}, "responses": responses, "suggestions": {"q": {"value": []}}}
    assert "accepted them: 1 skipped" in refusal(write(record), accept_suggested=True)


def test_annotations_of_a_task_in_json_min(write):
    values = [region["value"] for region in REGIONS]
    records = [{"id": 7, "text": TEXT, "ner": [value], "annotator": 1} for value in values]
    notes = Notes()
    assert rows(write(json.dumps(records), "a.json"), notes) == ["Anna O", "saw O", *ANNA[2:]]
    assert "several annotations mark differently" in notes.lines()[0]
    records[1]["text"] += " "
    assert len(rows(write(json.dumps(records), "a.json"))) == 8


def test_a_file_without_an_entity_is_said(write):
    notes = Notes()
    rows(write({"text": TEXT, "entities": []}), notes)
    assert notes.lines() == ["no entity: the label of all 4 tokens is O"]
    rows(write("Anna _\n", "a.conll"), notes := Notes())
    assert notes.lines() == ["no entity: the label of all 1 tokens is _"]


def test_a_mark_of_blanks_is_counted(write):
    path = write({"text": TEXT, "entities": [[4, 5, "PER"], *SPANS]})
    assert rows(path, notes := Notes()) == ANNA
    assert notes.lines() == [
        f"left out, as they hold nothing but blanks: 1 marks, first at {path}:1"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "text,label\nIt is good.,pos\nIt is bad.,neg\n"),
        ("a.tsv", "It is good .\tpos\nIt is bad .\tneg\n"),
        ("a.tsv", "fly to York\tO O B-city\nto Rome\tO B-city\n"),
    ],
)
def test_texts_are_no_tokens(write, name, text):
    assert "most lines hold a text" in refusal(write(text, name))
    assert rows(write("New York\tLOC\nof\tO\n10 000\tO\n", "a.tsv"), label_column=1)


def test_labels_are_no_tokens(write):
    path = write("O\tsaw\nB-LOC\tOslo\n\nO\tx\n", "a.tsv")
    assert "a.tsv:1: most lines hold a label such as B-PER" in refusal(path)
    assert rows(path, token_column=1, label_column=0)[1] == "Oslo B-LOC"


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("One.\r\nAnna saw Oslo .", [(5, 9), (14, 18)]),  # CR LF as one character
        ("One.\nAnna saw Oslo .", [(6, 10), (15, 19)]),  # LF as two
        ("Un é.\nAnna saw Oslo .", [(7, 11), (16, 20)]),  # bytes
        ("😀.\nAnna saw Oslo .", [(4, 8), (13, 17)]),  # UTF-16 units
        ("a b\nAnna saw Oslo .", [(5, 9), (14, 18)]),  # a byte order mark
        ("\ufeffa b\nAnna saw Oslo .", [(4, 8), (13, 17)]),  # none
    ],
)
def test_offsets_are_mended_by_the_text_beside_them(tmp_path, text, entities):
    (tmp_path / "a.txt").write_bytes(text.encode())
    kinds = zip(("PER", "LOC"), ("Anna", "Oslo"), entities, strict=True)
    (tmp_path / "a.ann").write_text(
        "".join(f"T1\t{kind} {start} {end}\t{said}\n" for kind, said, (start, end) in kinds)
    )
    notes = Notes()
    assert rows(str(tmp_path), notes)[-4:] == ANNA
    assert "offsets that are read as counted otherwise" in notes.lines()[0]


def test_offsets_that_nothing_explains_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("Then Anna saw Oslo .")
    (tmp_path / "a.ann").write_text("R1\tx\nT1\tPER 0 4\tAnna\n")
    assert "a.ann:2: characters 0 to 4 read 'Then', not 'Anna'" in refusal(str(tmp_path))


def test_tokens_of_prodigy_are_compared_too(write):
    tokens = [{"text": "Anna", "start": 1, "end": 5, "id": 0}]
    record = {"text": "So Anna", "tokens": tokens, "spans": [], "answer": "accept"}
    assert "a.jsonl:1: characters 1 to 5 read 'o An', not 'Anna'" in refusal(write(record))


@pytest.mark.parametrize(("kind", "marks"), [("doccano", "label"), ("argilla", None)])
def test_tools_that_count_in_utf_16_units(write, kind, marks):
    def record(*spans):
        if marks:
            return {"text": "😀 Anna in Oslo", marks: list(spans)}
        value = [{"start": s, "end": e, "label": label} for s, e, label in spans]
        return {"fields": {"text": "😀 Anna in Oslo"}, "responses": {"q": [{"value": value}]}}

    expected = ["😀 O", "Anna B-PER", "in O", "Oslo O"]
    assert rows(write(record([3, 7, "PER"])), format=kind) == expected
    assert rows(write(record([2, 6, "PER"])), format=kind) == expected


def test_marks_that_cut_words_are_kept_and_counted(write):
    notes = Notes()
    records = [
        {"text": TEXT, "entities": SPANS},
        {"text": TEXT, "entities": [[0, 3, "PER"], [9, 13, "LOC"]]},
    ]
    assert rows(write(records), notes)[4:] == ["Ann B-PER", "a O", "saw O", "Oslo B-LOC", ". O"]
    assert notes.lines() == [
        f"1 of 4 marks begin or end inside a word, first at {write(records)}:2: off by one?"
    ]


OVERLAPPING = [[4, 8, "LOC"], [0, 8, "ORG"], [7, 12, "PER"]]


def test_overlaps(write, tmp_path):
    path = write({"text": "Bank Oslo Anna Lee", "entities": OVERLAPPING})
    assert "a.jsonl:1: the mark" in refusal(path)
    notes = Notes()
    found = rows(path, notes, overlaps="longest")
    assert [row for row in found if not row.endswith(" O")][:2] == ["Bank B-ORG", "Osl I-ORG"]
    assert "left out, as they overlap another: 2 marks" in " ".join(notes.lines())
    first = rows(path, overlaps="first")
    assert first[0] == "Bank B-ORG"
    (tmp_path / "b.txt").write_text("Oslo Bank")
    (tmp_path / "b.ann").write_text("T1\tORG 0 9\tOslo Bank\nT2\tLOC 0 4\tOslo\n")
    assert "b.ann:2: the mark" in refusal(str(tmp_path / "b.ann"))


# ---------------------------------------------------------------------------- columns, tables


def test_columns_by_name_headers_and_metadata(write):
    hipe = (
        "TOKEN\tNE-COARSE\tMISC\n# language = en\n# id = d1\nAnna\tB-pers\t_\nslept\tO\t_\n\n"
        "# id = d2\nOslo\tB-loc\t_\n"
    )
    path = write(hipe, "a.tsv")
    expected = ["Anna B-pers", "slept O", "Oslo B-loc"]
    assert rows(path, label_column="NE-COARSE", token_column="TOKEN") == expected
    assert rows(path, label_column="ne-coarse") == expected
    assert rows(path, label_column=1) == expected
    said = refusal(path, label_column="NER")
    assert "no column for the label is called 'NER': its columns are TOKEN, NE-COARSE" in said
    assert "does not name its columns" in refusal(write("a\tO\n", "b.tsv"), label_column="NER")
    plus = "# global.columns = ID FORM NER\n1\tAnna\tB-PER\n2\tslept\tO\n"
    path = write(plus, "a.conllup")
    assert rows(path, token_column="FORM", label_column="NER") == ["Anna B-PER", "slept O"]


MISC = (
    "1\tAnna\t_\tPROPN\t_\t_\t0\troot\t_\tTag=B-PER\n"
    "2\tslept\t_\tVERB\t_\t_\t1\tx\t_\tSpaceAfter=No|Tag=O\n3\t.\t_\tPUNCT\t_\t_\t1\tx\t_\t_\n"
)


@pytest.mark.parametrize("column", ["none", "", " "])
def test_tokens_need_a_column(column):
    with pytest.raises(InputError, match="token_column must be a number"):
        Reading.of_settings(DataConfig(token_column=column))


def test_labels_in_misc(write):
    path = write(MISC, "a.conllu")
    expected = ["Anna B-PER", "slept O", ". O"]
    assert rows(path, token_column=1, label_column="MISC:Tag") == expected
    assert rows(path, token_column="FORM", label_column="9:Tag") == expected
    assert "`label_column=MISC:Tag`" in refusal(path, token_column=1, label_column=9)


@pytest.mark.parametrize("mark", ["0\t-DOCSTART-\tO", "#DOCSTART", "-DOCSTART- O", "\ufeff"])
def test_marks_between_sentences(write, mark):
    path = write(f"Anna\tB-PER\n\n{mark}\n\nOslo\tB-LOC\n{mark}\n", "a.conll")
    assert rows(path) == ["Anna B-PER", "Oslo B-LOC"]
    documents = [sentence.new_document for sentence in read_labelled(path)]
    assert documents == [True, mark != "\ufeff"]


def test_blank_tokens(write):
    path = write("Anna\tB-PER\n \tI-PER\n\tO\n\n \tO\n\nOslo\tB-LOC\n", "a.tsv")
    assert "a.tsv:2: the token is empty (or blank): `skip_blank_tokens`" in refusal(path)
    notes = Notes()
    assert rows(path, notes, skip_blank_tokens=True) == ["Anna B-PER", "Oslo B-LOC"]
    assert "left out, as they are empty or blank: 3 tokens" in notes.lines()[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('sentence_id,token,label\n1,Anna,B-PER\n1,",",O\n2,Oslo,B-LOC\n', "a.csv"),
        ('Sentence #;Word;Tag\nS: 1;Anna;B-PER\n;",";O\nS: 2;Oslo;B-LOC\n', "a.csv"),
        ("sent_id\tword\tner\n1\tAnna\tB-PER\n1\t,\tO\n2\tOslo\tB-LOC\n", "a.tsv"),
        ('token,label\nAnna,B-PER\n",",O\n\nOslo,B-LOC\n', "a.csv"),
    ],
)
def test_tables(write, text, name):
    path = write(text, name)
    assert rows(path) == ["Anna B-PER", ", O", "Oslo B-LOC"]
    assert [len(sentence.tokens) for sentence in read_labelled(path)] == [2, 1]


def test_tables_that_are_refused(write):
    assert "a.csv:2: the token is empty" in refusal(write("id,token,tag\n1,,O\n", "a.csv"))
    assert "a.csv:3: 1 columns" in refusal(write("token,tag\na,O\nb\n", "a.csv"))
    assert "is called 'x': its columns are token, tag" in refusal(
        write("token,tag\na,O\n", "a.csv"), label_column="x"
    )
    assert "a.csv:2: unexpected end of data" in refusal(write('token,tag\n"a,O\nb,O\n', "a.csv"))
    swallows = 'id,token,tag\n1,",O\n1,Anna,B-PER\n1,",O\n'
    assert "a.csv:2: a quotation mark begins" in refusal(write(swallows, "a.csv"))
    assert "a.csv:1: the first line must name" in refusal(write("Anna,B-PER\nsaw,O\n", "a.csv"))
    lists = "id,words,tags\n1,\"['Anna', 'saw']\",\"['B-PER', 'O']\"\n"
    assert "a.csv:2: a row must hold one token" in refusal(write(lists, "a.csv"))
    assert "a.csv:3: 4 columns" in refusal(write("id,token,tag\n1,a,O\n1,1,000,O\n", "a.csv"))
    two = write("id,token,tag,ner\n1,Anna,NNP,B-PER\n", "a.csv")
    assert "more than one column is called as one of labels" in refusal(two)
    assert rows(two, label_column="ner") == ["Anna B-PER"]
    unknown = write("Wort,Etikett\nAnna,B-PER\n", "a.csv")
    assert "its columns are Wort, Etikett; `token_column=NAME" in refusal(unknown)
    assert rows(unknown, token_column="wort", label_column="Etikett") == ["Anna B-PER"]


def test_quotation_marks_between_tabs(write):
    text = 'sentence_id\ttoken\tlabel\n1\t"\tO\n1\t""""\tO\n1\t"Anna"\tB-PER\n'
    assert rows(write(text, "a.tsv")) == ['" O', '" O', "Anna B-PER"]


def test_bmewo(write):
    text = "Anna\tW-PER\n\nNew\tB-LOC\nOslo\tM-LOC\nCity\tE-LOC\n"
    assert rows(write(text, "a.conll"))[0] == "Anna W-PER"
