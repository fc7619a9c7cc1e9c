"""``uanet rank``, with a model of a few lines."""

import json

import numpy as np
import pytest

from tests.formats.records import handed_to, read_annotations
from uanet_tf.commands.rank_command import rank
from uanet_tf.formats.table import TOOLS

# Of the fake model: upper case is uncertain (1.0 nats), lower case less so (0.1).
TEXT = "p0 q1 x\n\np0 X2 x\nP3 Q4\nx x x\np0 X2 x\n"


@pytest.fixture
def ranked(tmp_path, run_dir, model, call):
    """Ranks ``TEXT`` and returns the output, exit code 0 taken for granted."""

    def ranked(*arguments):
        path, output = tmp_path / "in.txt", tmp_path / "output"
        path.write_text(TEXT)
        arguments = [f"--input={path}", f"--output={output}", *arguments]
        assert call(rank, f"--run_dir={run_dir}", "--format=tokens", *arguments) == 0
        return output.read_text()

    return ranked


def test_json(ranked):
    answers = [json.loads(line) for line in ranked("--top=3").splitlines()]
    assert [answer["text"] for answer in answers] == ["P3 Q4", "p0 X2 x", "p0 X2 x"]
    assert [answer["score"] for answer in answers] == [1.0, 0.4, 0.4]
    assert answers[1]["labels"] == ["B-PER", "B-LOC", "O"]


def test_text_without_duplicates(ranked):
    assert ranked("--to=text", "--diverse", "--by=sum") == "P3 Q4\np0 X2 x\np0 q1 x\nx x x\n"


def test_by_mutual_information(ranked, model):
    """Gate and labels stay those of the run's own uncertainty."""
    tag_batch = model.tag_batch
    model.tag_batch = lambda tokens, lengths, documents=None: {
        **tag_batch(tokens, lengths),
        "mutual_information": np.where(tokens == "x", 0.9, 0.0),
    }
    answers = [
        json.loads(line) for line in ranked("--by=mutual_information", "--top=1").splitlines()
    ]
    assert model.return_mutual_information
    assert "uncertainty" not in vars(model)
    assert [(answer["text"], answer["score"]) for answer in answers] == [("x x x", 0.9)]
    assert answers[0]["mutual_information"] == [0.9] * 3
    assert max(answers[0]["uncertainty"]) < 0.9


@pytest.mark.parametrize(
    "changes", [{"num_samples": 1}, {"num_samples": 0}, {"drafter.samples_differ": False}]
)
def test_samples_that_cannot_disagree(tmp_path, run_dir, model, call, capsys, changes):
    for name, value in changes.items():
        *owner, name = name.split(".")
        setattr(getattr(model, owner[0]) if owner else model, name, value)
    path = tmp_path / "in.txt"
    path.write_text(TEXT)
    assert call(rank, f"--run_dir={run_dir}", f"--input={path}", "--by=mutual_information") == 2
    assert "--by=mutual_information needs samples that differ" in capsys.readouterr().err


@pytest.mark.parametrize("tool", TOOLS)
def test_a_file_for_a_tool(ranked, tool):
    written = ranked(f"--to={tool}", "--top=2")
    items = list(read_annotations(written.splitlines(), tool, "x"))
    assert [item.text for item in items] == ["P3 Q4", "p0 X2 x"]
    assert [mark.label for mark in items[1].marks] == ["PER", "LOC"]
    assert [score for _, score, *_ in handed_to(tool, written)] == [1.0, 0.4]


@pytest.mark.parametrize("tool", TOOLS)
def test_candidates_are_suggestions_too(ranked, model, tool):
    model.return_candidates = True
    model.tag_batch = with_candidates(model)
    ((_, _, found, *_),) = handed_to(tool, ranked(f"--to={tool}", "--top=1"))
    # Both words are given as LOC, and keep their confidence.
    given = {(0, 2, "LOC"): 0.75, (3, 5, "LOC"): 0.75}
    assert found == given | {(0, 2, "PER"): 0.25, (0, 5, "PER"): 0.125}


def with_candidates(model):
    tag_batch = model.tag_batch

    def tagged(tokens, lengths, documents=None):
        found = np.zeros([*tokens.shape, 4], np.float32)
        found[tokens == "P3"] = [0.25, 0.375, 0.125, 0.0]
        return {**tag_batch(tokens, lengths), "candidates": found}

    return tagged


@pytest.fixture
def ranked_json(tmp_path, run_dir, model, call):
    """Ranks JSON lines and returns the output."""

    def ranked_json(rows, *arguments):
        path, output = tmp_path / "in.jsonl", tmp_path / "output"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        arguments = [f"--input={path}", f"--output={output}", "--split_sentences", *arguments]
        assert call(rank, f"--run_dir={run_dir}", *arguments) == 0
        return output.read_text().splitlines()

    return ranked_json


ROWS = [
    {"text": "Rain fell today. P3 Q4.", "id": "a", "source": "wire", "score": "high"},
    {"tokens": ["p0", "X2", "x"], "id": 8, "labels": ["O", "O", "O"], "half": "\ud800"},
]


def test_keys_of_the_input_go_along(ranked_json):
    first, second = map(json.loads, ranked_json(ROWS, "--top=2"))
    assert [first[key] for key in ("id", "source", "score")] == ["a", "wire", first["score"]]
    assert isinstance(first["score"], float)
    assert (second["id"], second["half"], second["labels"][0]) == (8, "\ud800", "B-PER")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_has_what_a_sentence_is_called(ranked_json, tool):
    rows = [ROWS[0], {key: ROWS[1][key] for key in ROWS[1] if key != "half"}]
    first, second, _ = handed_to(tool, "\n".join(ranked_json(rows, f"--to={tool}")))
    assert (first[0], first[3]) == ("P3 Q4.", "a-2")
    assert first[4] == {"input_line": 1, "input_id": "a", "source": "wire", "score_": "high"}
    assert str(second[3]) == "8"  # Argilla's are texts
    assert second[4] == {"input_line": 2, "labels_": ["O", "O", "O"]}


def test_fewer_than_wanted_are_told(ranked_json, capsys):
    rows = [{"tokens": ["x"]}] * 50 + [{"tokens": ["P1"]}, {"tokens": ["X2"]}]
    assert len(ranked_json(rows, "--top=3", "--diverse")) == 3
    assert capsys.readouterr().err == ""
    assert len(ranked_json(rows, "--top=4", "--diverse")) == 3
    assert capsys.readouterr().err.startswith("--top=4, and there are 3 sentences: the other")
    assert len(ranked_json(rows[:2], "--top=3")) == 2
    assert capsys.readouterr().err == ""


def test_the_sentences_that_are_left_out_are_not_lost(tmp_path, run_dir, call, capsys):
    path = tmp_path / "raw.txt"
    path.write_text("One two.\n")
    assert call(rank, f"--run_dir={run_dir}", f"--input={path}", f"--output={path}") == 2
    assert "is the file that is read: name another one." in capsys.readouterr().err
    assert path.read_text() == "One two.\n"


def test_labels_of_single_tokens_have_no_marks(tmp_path, run_dir, model, call, capsys):
    model.label_scheme = None
    path = tmp_path / "in.txt"
    path.write_text(TEXT)
    arguments = [f"--run_dir={run_dir}", f"--input={path}", "--format=tokens", "--to=doccano"]
    assert call(rank, *arguments) == 2
    assert capsys.readouterr().err.startswith("--to=doccano is for entities")


@pytest.mark.parametrize(
    ("argument", "message"), [("--top=0", "--top"), ("--by=luck", "--by"), ("--to=xml", "--to")]
)
def test_bad_arguments(run_dir, call, capsys, argument, message):
    assert call(rank, f"--run_dir={run_dir}", argument) == 2
    assert message in capsys.readouterr().err


SPAN = {"start": 0, "end": 1, "labels": ["PER"], "text": "p"}
TOKENS = [{"text": "p0", "start": 0, "end": 2}, {"text": "x", "start": 3, "end": 4}]
REGIONS = [{"result": [{"type": "labels", "value": SPAN}]}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "sentence_id,token,label\n1,p0,B-PER\n1,x,O\n2,P3,O\n2,Q4,B-LOC\n"),
        ("a.tsv", "sentence_id\ttoken\tlabel\n1\tp0\tO\n1\tx\tO\n2\tP3\tO\n2\tQ4\tO\n"),
        ("a.ann", "T1\tPER 0 1\tp\nT2\tLOC 0 2\tp0\n"),
        ("a.json", json.dumps([{"data": {"text": "p0 x\n\nP3 Q4"}, "annotations": REGIONS}])),
        ("b.json", json.dumps([{"fields": {"text": "p0 x\n\nP3 Q4"}, "suggestions": {}}])),
        (
            "c.json",
            json.dumps(
                [
                    {"tokens": ["p0", "x"], "tags": ["O", "O"]},
                    {"tokens": ["P3", "Q4"], "tags": ["B-PER", "O"]},
                ]
            ),
        ),
        ("a.jsonl", json.dumps({"text": "p0 x\n\nP3 Q4", "entities": [[0, 1, "PER"]]})),
        (
            "b.jsonl",
            json.dumps({"text": "p0 x", "tokens": TOKENS, "spans": [], "answer": "accept"})
            + '\n{"text": "P3 Q4", "spans": [], "answer": "accept"}\n',
        ),
    ],
)
def test_files_of_labelled_text(tmp_path, run_dir, model, call, name, content):
    """Of every format, without the labels, and without where they begin and end."""
    (tmp_path / "a.txt").write_text("p0 x\n\nP3 Q4")
    (tmp_path / name).write_text(content)
    output = tmp_path / "output"
    arguments = [f"--input={tmp_path / name}", f"--output={output}", "--split_sentences"]
    assert call(rank, f"--run_dir={run_dir}", *arguments) == 0
    answers = [json.loads(line) for line in output.read_text().splitlines()]
    assert [answer["tokens"] for answer in answers] == [["P3", "Q4"], ["p0", "x"]]
