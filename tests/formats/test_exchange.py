"""Labelled sentences in others' formats, there and back."""

import json
import os
import threading

import pytest

from uanet_lite.columns_file import read_corpus
from uanet_tf.commands import runner
from uanet_tf.commands.convert_command import convert
from uanet_tf.errors import InputError
from uanet_tf.formats.table import Reading, read_labelled

CONLL = """Anna\tB-PER
Lee\tI-PER
's\tO
dog\tO
.\tO

(\tO
Rio\tB-LOC
)\tO

"""


@pytest.fixture
def call(tmp_path, capsys):
    def call(*arguments, code=0):
        found = runner.exit_code(convert, ["convert", *arguments])
        out, err = capsys.readouterr()
        assert found == code, err
        return out if code == 0 else err

    return call


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(CONLL)
    return path


def pairs(path):
    return [(sentence.tokens, sentence.labels) for sentence in read_corpus(path)]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("huggingface", "b.jsonl"), ("spacy", "b.jsonl"), ("brat", "b.txt"), ("argilla", "b")],
)
def test_there_and_back(call, path, tmp_path, kind, name):
    call(f"--input={path}", f"--to={kind}", f"--output={tmp_path / name}")
    source = tmp_path / ("b.ann" if kind == "brat" else name)
    call(f"--input={source}", f"--output={tmp_path / 'c.conll'}")
    assert pairs(tmp_path / "c.conll") == pairs(path)


def test_what_is_written(call, path, tmp_path):
    rows = call(f"--input={path}", "--to=spacy").splitlines()
    assert json.loads(rows[0]) == {"text": "Anna Lee's dog.", "entities": [[0, 8, "PER"]]}
    rows = call(f"--input={path}", "--to=huggingface").splitlines()
    assert json.loads(rows[1]) == {"tokens": ["(", "Rio", ")"], "labels": ["O", "B-LOC", "O"]}
    call(f"--input={path}", f"--output={tmp_path / 'b.txt'}")
    assert (tmp_path / "b.txt").read_text() == "Anna Lee's dog.\n(Rio)\n"
    assert (tmp_path / "b.ann").read_text() == "T1\tPER 0 8\tAnna Lee\nT2\tLOC 17 20\tRio\n"


def spacy(tmp_path, **fields):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(fields) + "\n")
    return read_labelled(str(path), Reading(format="spacy"))


def test_entities_cut_tokens_and_sentences_are_split(tmp_path):
    text = "The Paris-based firm won. Ann left."
    spans = [{"start": 4, "end": 9, "label": "LOC"}, {"start": 26, "end": 29, "label": "PER"}]
    first, second = spacy(tmp_path, text=text, spans=spans)
    assert first.tokens == ("The", "Paris", "-based", "firm", "won", ".")
    assert first.labels == ("O", "B-LOC", "O", "O", "O", "O")
    assert (second.tokens, second.labels) == (("Ann", "left", "."), ("B-PER", "O", "O"))
    assert (first.new_document, second.new_document) == (True, False)


def test_a_folder_of_brat(tmp_path):
    for name, text in (("b", "Bo ran."), ("a", "In Rio. Ann too.")):
        (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / f"{name}.ann").write_text("R1\tx Arg1:T1\n")
    (tmp_path / "a.ann").write_text("T1\tLOC 3 6\tRio\nT2\tPER 8 11;12 15\tAnn too\n")
    found = read_labelled(str(tmp_path))
    assert [sentence.labels for sentence in found] == [
        ("O", "B-LOC", "O"),
        ("B-PER", "I-PER", "O"),
        ("O", "O", "O"),
    ]
    assert [sentence.new_document for sentence in found] == [True, False, True]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a"], "ner_tags": [3]}', "numbers of classes need their names"),
        ('{"tokens": ["a"], "labels": []}', "as many strings as there are tokens"),
        ('{"tokens": []}', 'has no labels under "labels"'),
        ("1", "not a JSON object"),
        ("{", "not JSON"),
        ('{"a":' * 100_000, "not JSON: it is nested too deeply"),
        ('{"tokens": ["\\ud800"], "labels": ["O"]}', "not JSON: it holds half of a character"),
    ],
    ids=lambda text: text[:40],
)
def test_bad_lines(tmp_path, line, message):
    path = tmp_path / "in.jsonl"
    path.write_text("\n" + line + "\n")
    with pytest.raises(InputError, match=f"in.jsonl:2: .*{message}"):
        read_labelled(str(path), Reading(format="huggingface"))


def test_labels_that_are_numbers(call, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"tokens": ["Anna", "left"], "ner_tags": [1, 0]}\n')
    assert call(f"--input={source}", "--label_names=O,B-PER") == "Anna\tB-PER\nleft\tO\n\n"
    said = call(f"--input={source}", "--label_names=O", code=2)
    assert "in.jsonl:1: the label 1 is none of 0 to 0" in said


def test_an_entity_is_not_cut_by_the_end_of_a_sentence(tmp_path):
    text = "We saw Oh! The Movie. It was long. So was Oh! The End."
    entities = [[7, 20, "A"], [42, 53, "A"]]
    first, second, third = spacy(tmp_path, text=text, entities=entities)
    assert first.labels == ("O", "O", "B-A", "I-A", "I-A", "I-A", "O")
    assert set(second.labels) == {"O"}
    assert third.labels == ("O", "O", "B-A", "I-A", "I-A", "I-A", "O")


def test_bad_arguments(call, path, tmp_path):
    assert "x.spacy: spaCy's binary format" in call("--input=x.spacy", code=2)
    assert "x.json: no such file" in call("--input=x.json", code=2)
    assert "Both are JSON lines" in call(f"--input={path}", "--output=x.jsonl", code=2)
    for output in ("-", "", "."):
        said = call(f"--input={path}", "--to=brat", f"--output={output}", code=2)
        assert "name --output=FILE.txt" in said
    (tmp_path / "pos.conll").write_text("They PRP\nleft VBD\n")
    said = call(f"--input={tmp_path / 'pos.conll'}", "--to=spacy", code=2)
    assert "Only entities" in said
    (tmp_path / "empty").mkdir()
    assert "holds no .ann file" in call(f"--input={tmp_path / 'empty'}", code=2)
    (tmp_path / "x.ann").write_text("T1\tPER 0\tA\n")
    assert "x.txt: cannot be read" in call(f"--input={tmp_path / 'x.ann'}", code=2)
    (tmp_path / "x.txt").write_text("A")
    assert "x.ann:1: not an entity" in call(f"--input={tmp_path / 'x.ann'}", code=2)


def test_a_pipe_is_told_by_its_content(call, tmp_path):
    """It can be read only once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    line = '{"tokens": ["Ann"], "ner_tags": ["B-PER"]}\n'
    writer = threading.Thread(target=pipe.write_text, args=(line,))
    writer.start()
    assert call(f"--input={pipe}") == "Ann\tB-PER\n\n"
    writer.join()


def test_what_columns_cannot_hold(call, tmp_path):
    source = tmp_path / "in.jsonl"
    good, bad = '{"tokens": ["a"], "labels": ["O"]}', '{"tokens": ["a\\nb"], "labels": ["O"]}'
    source.write_text(f"{good}\n\n{bad}\n")
    said = call(f"--input={source}", code=2)
    assert "in.jsonl:3: 'a\\nb' cannot be written in columns: it holds a tab" in said
    rows = [
        {"text": text, "answer": "accept", "tokens": [{"start": 0, "end": len(text)}]}
        for text in ("a", "a\tb")
    ]
    source.write_text("\n".join(map(json.dumps, rows)))
    said = call(f"--input={source}", "--from=prodigy", code=2)
    assert "in.jsonl:2: 'a\\tb' cannot be written in columns" in said
    source.write_text(json.dumps(rows))
    said = call(f"--input={source}", "--from=prodigy", code=2)
    assert "in.jsonl: record 2: 'a\\tb' cannot be written in columns" in said
    source.write_text('{"tokens": ["New York", "\\ud83d\\ude00"], "labels": ["B-LOC", "O"]}\n')
    call(f"--input={source}", f"--output={tmp_path / 'out.conll'}")
    assert pairs(tmp_path / "out.conll") == [(("New York", "\U0001f600"), ("B-LOC", "O"))]


def test_suggestions_that_nobody_changed(tmp_path, capsys):
    row = {"text": "Anna's dog", "label": [[0, 4, "PER"]], "suggested": [[0, 4, "PER", 0.5]]}
    source = tmp_path / "export.jsonl"
    source.write_text(json.dumps(row) + "\n" + json.dumps({**row, "label": []}) + "\n")
    arguments = ["convert", f"--input={source}", "--from=doccano"]
    for more, texts in (([], 1), (["--accept_suggested"], 2)):
        assert runner.exit_code(convert, arguments + more) == 0
        out, err = capsys.readouterr()
        assert out.count("dog") == texts
        assert ("1 suggested (--accept_suggested takes" in err) == (texts == 1)


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_an_export_of_one_long_line(call, path, tmp_path, tool):
    path.write_text(CONLL * 2500)
    call(f"--input={path}", f"--to={tool}", f"--output={tmp_path / 'b.json'}")
    export = tmp_path / "export.json"
    export.write_text(json.dumps(json.loads((tmp_path / "b.json").read_text())))
    assert export.stat().st_size > 1 << 20
    assert "\n" not in export.read_text()
    call(f"--input={export}", f"--from={tool}", f"--output={tmp_path / 'c.conll'}")
    assert pairs(tmp_path / "c.conll") == pairs(path)


@pytest.mark.parametrize("kind", ["Person Name", "a\u00a0b"])
def test_types_that_brat_cannot_hold(call, tmp_path, kind):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.txt"
    source.write_text(json.dumps({"tokens": ["Ann"], "labels": [f"B-{kind}"]}) + "\n")
    said = call(f"--input={source}", f"--output={target}", code=2)
    assert said == f"the type {kind!r} cannot be written for brat: its types have no blanks.\n"
    assert not target.exists()


def test_a_line_end_in_an_entity_for_brat(call, tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.txt"
    source.write_text('{"tokens": ["Ann\\nTy", "left"], "labels": ["B-PER", "O"]}\n')
    call(f"--input={source}", f"--output={target}")
    assert (tmp_path / "out.ann").read_text() == "T1\tPER 0 6\tAnn Ty\n"
    said = "Ann\tB-PER\nTy\tI-PER\nleft\tO\n\n"
    assert call(f"--input={target}", "--from=brat", "--nosplit_sentences") == said
