"""What `tag` shows of a run with a target precision."""

import dataclasses
import gzip
import hashlib
import json
import os
import select
import subprocess
import sys
import threading

import pytest

import uanet_tf
from tests.pipes import SOURCES, source
from tests.tagging.fake_model import FakeModel
from tests.tagging.test_document_context import ReadsDocuments
from uanet_lite.columns_file import read_corpus
from uanet_lite.tagged_sentence import Candidate, TaggedSentence
from uanet_tf.commands import spark_tag_command
from uanet_tf.commands.row_source import TextFlags
from uanet_tf.commands.spark_tag_command import TagLines
from uanet_tf.commands.tag_command import tag
from uanet_tf.config import Config
from uanet_tf.ops import devices
from uanet_tf.tagging.masked_text import masked_text
from uanet_tf.tagging.monitor import SentenceFacts, make_reference

CONLL = "p0\tNN\tO\nq1\tNN\tO\n\nX2\tNN\tO\nP3\tNN\tB-PER\n"


def test_conll_keeps_columns_and_adds_the_label(tag_text):
    assert tag_text(CONLL) == (
        "p0\tNN\tO\tB-PER\nq1\tNN\tO\tI-PER\n\nX2\tNN\tO\tB-LOC\nP3\tNN\tB-PER\tB-LOC\n\n"
    )


def test_conll_with_uncertainty(tag_text):
    assert tag_text("x y O\np O\n\n", "--uncertainty_columns").splitlines() == [
        "x y O O 0.1000 O",
        "p O B-PER 0.1000 B-PER",
        "",
    ]
    assert "X2\tNN\tO\tO\t1.0000\tB-LOC\n" in tag_text(CONLL, "--uncertainty_columns")


def test_the_gpu_that_tags_is_named(tag_text, capsys, monkeypatch):
    monkeypatch.setattr(devices, "gpu_text", lambda: "GPU 0 (NVIDIA H100)")
    tag_text(CONLL)
    assert capsys.readouterr().err == "tagging on GPU 0 (NVIDIA H100)\n"


def test_document_marks_are_kept(tag_text):
    text = "-DOCSTART- -X- O\n\np0 NN O\n\nq1 NN O\n\n-DOCSTART- -X- O\n\nx NN O\n"
    assert tag_text(text).splitlines() == [
        "-DOCSTART- -X- O O",
        "",
        "p0 NN O B-PER",
        "",
        "q1 NN O I-PER",
        "",
        "-DOCSTART- -X- O O",
        "",
        "x NN O O",
        "",
    ]


def test_conll_output_can_be_read_again(tag_text, tmp_path):
    for text in (CONLL, CONLL.replace("\t", " ")):
        (tmp_path / "again.conll").write_text(tag_text(text))
        first, second = read_corpus(tmp_path / "again.conll")
        assert (first.tokens, second.tokens) == (("p0", "q1"), ("X2", "P3"))
        assert first.labels == ("B-PER", "I-PER")


@pytest.mark.parametrize("token", ["c\nd", "e\tf", " ", "g\r"])
def test_a_token_that_is_no_column_is_refused(tmp_path, run_dir, model, call, capsys, token):
    path = tmp_path / "in.jsonl"
    path.write_text('{"tokens": ["a"]}\n' + json.dumps({"tokens": ["b", token]}) + "\n")
    output = tmp_path / "output"
    arguments = [f"--run_dir={run_dir}", f"--input={path}", f"--output={output}"]
    assert call(tag, *arguments, "--output_format=conll") == 2
    assert f"Line 2 of the input: the token {token!r}" in capsys.readouterr().err
    assert not output.exists()


def test_token_column(tag_text):
    assert tag_text("p0 X1\n", "--token_column=1") == "p0 X1 B-LOC\n\n"


def entity(text, kind, start, end, token_start, token_end, uncertainty):
    return {
        "text": text,
        "type": kind,
        "start": start,
        "end": end,
        "token_start": token_start,
        "token_end": token_end,
        "confidence": 0.75,
        "uncertainty": uncertainty,
    }


def test_jsonl_keeps_other_keys(tag_text):
    lines = ['{"id": 7, "tokens": ["p0", "q1", "X2"]}', "", '{"tokens": ["é"], "note": "ü"}']
    first, blank, second = tag_text("\n".join(lines), name="in.jsonl").splitlines()
    assert json.loads(blank)["tokens"] == json.loads(blank)["entities"] == []
    assert json.loads(first) == {
        "id": 7,
        "text": "p0 q1 X2",
        "tokens": ["p0", "q1", "X2"],
        "labels": ["B-PER", "I-PER", "B-LOC"],
        "draft_labels": ["B-PER", "I-PER", "O"],
        "refined": [False, False, True],
        "uncertainty": [0.1, 0.1, 1.0],
        "confidence": [0.75, 0.75, 0.75],
        "starts": [0, 3, 6],
        "ends": [2, 5, 8],
        "entities": [entity("p0 q1", "PER", 0, 5, 0, 2, 0.1), entity("X2", "LOC", 6, 8, 2, 3, 1.0)],
    }
    assert '"note": "ü"' in second


def test_surrogates_in_other_keys_pass(tag_text):
    (line,) = tag_text('{"tokens": ["p"], "id": "\\ud800"}', name="in.jsonl").splitlines()
    assert json.loads(line)["id"] == "\ud800"


def test_text(tag_text):
    assert tag_text("p0 q1.\n\n  \nX2", name="in.txt") == (
        "p0\tB-PER\nq1\tI-PER\n.\tO\n\n\n\nX2\tB-LOC\n\n"
    )
    first, _ = tag_text("p0 q1.\nX2", "--output_format=jsonl", name="in.txt").splitlines()
    assert json.loads(first)["text"] == "p0 q1."


def test_threshold_and_seed_reach_the_model(tag_text, model):
    assert "X2\tNN\tO\tO\n" in tag_text(CONLL, "--threshold=2", "--mc_seed=5")
    assert (model.threshold, model.mc_seed) == (2.0, 5)


def test_output_may_be_the_input(tmp_path, run_dir, model, call):
    path = tmp_path / "in.conll"
    path.write_text("p0\n")
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}", f"--output={path}") == 0
    assert path.read_text() == "p0\tB-PER\n\n"


def test_output_replaces_no_file_of_the_model(tmp_path, run_dir, call, capsys):
    path, lite = tmp_path / "in.txt", tmp_path / "m.tflite"
    for each in (path, run_dir / "model.keras", lite):
        each.write_text("x\n")
    for model, output in (
        (f"--run_dir={run_dir}", run_dir / "model.keras"),
        (f"--run_dir={run_dir}", run_dir / "config.json"),
        (f"--model={lite}", lite),
    ):
        before = output.read_text()
        assert call(tag, model, f"--input={path}", "--format=text", f"--output={output}") == 2
        assert capsys.readouterr().err.endswith(": name another one.\n")
        assert output.read_text() == before


def test_gzip(tmp_path, run_dir, model, call, capsys):
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"tokens": ["p0"]}\n'))
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}", "--progress") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["labels"] == ["B-PER"]
    assert "lines" in err


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("progress", ["--progress", "--noprogress"])
def test_lines_out_for_lines_in(tmp_path, run_dir, model, call, kind, progress):
    # More than a pipe holds, with documents, so that nothing can be read twice unseen.
    rows = []
    for number in range(3000):
        rows += ["-DOCSTART- -X- O", ""] * (number % 100 == 0)
        rows += [f"x{number} NN O", f"p{number} NN O", ""]
    output = tmp_path / "output"
    with source(kind, "\n".join(rows).encode(), tmp_path) as path:
        arguments = [f"--run_dir={run_dir}", f"--input={path}", f"--output={output}", progress]
        assert call(tag, *arguments) == 0
    answers = output.read_text().split("\n")
    assert len(answers) == len(rows) + 1
    assert [row.rpartition(" ")[0] for row in answers[:-1]] == rows


@pytest.mark.parametrize(
    ("kind", "lines", "rows"), [("file", 3, 16), ("fifo", 3, 3), ("fifo", 20, 32)]
)
def test_batches_are_filled_up_unless_somebody_waits(
    tmp_path, run_dir, model, call, kind, lines, rows
):
    with source(kind, b"p0 NN O\n\n" * lines, tmp_path) as path:
        flags = [f"--input={path}", f"--output={tmp_path / 'output'}", "--format=conll"]
        assert call(tag, f"--run_dir={run_dir}", *flags) == 0
    assert [len(batch) for batch in model.batches] == [rows]
    assert (tmp_path / "output").read_text().count("B-PER") == lines


@pytest.mark.process
def test_a_real_shell(tmp_path, run_dir):
    (tmp_path / "in.conll").write_text("-DOCSTART- O\n\n" + "p0 O\n\n" * 5000)
    command = (
        "import sys, uanet_tf; from tests.tagging.fake_model import FakeModel; "
        "from uanet_tf.commands import runner; from uanet_tf.commands.tag_command import tag; "
        "uanet_tf.load_model = lambda *_, **__: FakeModel(); runner.run(tag)"
    )
    program = f"{sys.executable} -c '{command}' --run_dir={run_dir}"
    data = f"{tmp_path}/in.conll"
    script = (
        f"{program} --input=<(cat {data}) | md5sum; {program} --input=/dev/stdin < {data} | md5sum;"
        f"cat {data} | {program} --input=/dev/stdin | md5sum; {program} < {data} | md5sum; "
        f"{program} --input=<(gzip -c {data}) | md5sum"
    )
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    expected = hashlib.md5(b"-DOCSTART- O O\n\n" + b"p0 O B-PER\n\n" * 5000).hexdigest()
    assert all(": read as conll (" in line for line in result.stderr.splitlines())
    assert result.stdout.split() == [expected, "-"] * 5


def test_progress_bar_counts_lines(tag_text, capsys):
    tag_text(CONLL, "--progress")
    assert "5/5" in capsys.readouterr().err


@pytest.mark.parametrize("fake", [FakeModel, ReadsDocuments])
def test_input_that_pauses_is_answered_at_once(tmp_path, run_dir, call, monkeypatch, fake):
    """Each line, which is a document, is answered before the next is written."""
    monkeypatch.setattr(uanet_tf, "load_model", lambda *_, **__: fake(), raising=False)
    paths, seen = (tmp_path / "in", tmp_path / "out"), []
    for path in paths:
        os.mkfifo(path)
    lines, answers = (os.open(path, os.O_RDWR) for path in paths)

    def converse():
        for token in (b"p0", b"l1", b"x"):
            os.write(lines, token + b"\n")
            seen.append(b"")
            while seen[-1].count(b"\n") < 2 and select.select([answers], [], [], 20)[0]:
                seen[-1] += os.read(answers, 100)
        os.close(lines)

    thread = threading.Thread(target=converse)
    thread.start()
    flags = [f"--run_dir={run_dir}", "--format=tokens"]
    assert call(tag, *flags, f"--input={paths[0]}", f"--output={paths[1]}") == 0
    thread.join()
    os.close(answers)
    assert seen == [b"p0\tB-PER\n\n", b"l1\tB-LOC\n\n", b"x\tO\n\n"]


def test_columns_and_tables(tag_text, model, monkeypatch):
    plain = model.tag_batch

    def with_acceptance(tokens, lengths):
        answer = plain(tokens, lengths)
        return answer | {"accepted": answer["labels"] == 3}

    monkeypatch.setattr(model, "tag_batch", with_acceptance)
    text = "-DOCSTART- -X- O\n\nX2 NN O\np0 NN O\n\n"
    assert tag_text(text, "--uncertainty_columns").splitlines() == [
        "-DOCSTART- -X- O -X- 0.0000 0 O",
        "",
        "X2 NN O O 1.0000 1 B-LOC",
        "p0 NN O B-PER 0.1000 0 B-PER",
        "",
    ]
    assert "[PER? p0]" in tag_text("p0 NN O\n\n", "--output_format=pretty")


def test_rows_without_words_have_the_fields_of_the_others(tag_text, model, monkeypatch):
    """In `tag` and in Spark, and the first row too."""
    model.acceptance.target_value = 0.9
    lines = ["", '{"tokens": ["p0", "X2"]}', '{"text": " "}']
    flags = ("--return_mutual_information",)
    monkeypatch.setattr(model, "return_mutual_information", True)
    written = tag_text("\n".join(lines), *flags, name="in.jsonl").splitlines()
    rows = [json.loads(line) for line in written]
    assert rows[1]["accepted"] == [True, False]
    assert rows[1]["mutual_information"] == [0.05, 0.5]
    for row in (rows[0], rows[2]):
        assert set(row) == {*rows[1], "sentences"}
        assert row["accepted"] == row["mutual_information"] == row["sentences"] == []
    sizes = {"batch_size": 8, "batch_tokens": 1000}
    assert TagLines("jsonl", 0, TextFlags(), sizes)(model, lines) == written


@pytest.fixture
def metrics(run_dir):
    """A reference of certain sentences with known words, half of which name a person."""
    persons = (frozenset({"PER"}), frozenset())
    facts = [SentenceFacts(0.11, 0.0, persons[k % 2]) for k in range(200)]
    values = {"task": "ner", "epochs": [], "best_epoch": 1}
    path = run_dir / "metrics.json"
    path.write_text(json.dumps({**values, "monitoring": make_reference(facts).to_dict()}))
    return path


def call_tag(call, run_dir, tmp_path, lines):
    text = tmp_path / "text.conll"
    text.write_text("\n\n".join(lines) + "\n")
    out = tmp_path / "out.conll"
    return call(tag, f"--run_dir={run_dir}", f"--input={text}", f"--output={out}", "--monitor")


def test_text_of_the_same_kind(run_dir, tmp_path, model, metrics, call, capsys):
    assert call_tag(call, run_dir, tmp_path, ["p0", "x"] * 150) == 0
    assert capsys.readouterr().err == "no shift seen in 300 sentences\n"


def test_too_little_text_for_a_look(run_dir, tmp_path, model, metrics, call, capsys):
    assert call_tag(call, run_dir, tmp_path, ["Zagreb Zadar"] * 99) == 0
    said = "no look for a shift: the first is after 100 sentences, and there are 99\n"
    assert capsys.readouterr().err == said


def test_text_of_another_kind_is_told_once(run_dir, tmp_path, model, metrics, call, capsys):
    assert call_tag(call, run_dir, tmp_path, ["Zagreb Zadar"] * 300) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("shift after 100 sentences: 100.0 % of sentences with")
    assert "mean uncertainty above" in line


def test_a_run_without_reference(run_dir, tmp_path, model, metrics, call, capsys):
    values = json.loads(metrics.read_text())
    del values["monitoring"]
    metrics.write_text(json.dumps(values))
    assert call_tag(call, run_dir, tmp_path, ["x"]) == 2
    assert "`uanet calibrate" in capsys.readouterr().err
    metrics.write_text(json.dumps({**values, "monitoring": [1]}))
    assert call_tag(call, run_dir, tmp_path, ["x"]) == 2
    assert "what it has for 'monitoring' is no reference" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, False),
        ({"context": "document"}, True),
        ({"context": "document", "decoder": "crf"}, True),
        ({"refiner_context": "document"}, True),
        # What auto was in files that mark documents, of a tagger without a refiner.
        ({"refiner_context": "document", "decoder": "crf"}, False),
    ],
)
def test_runs_that_read_documents(settings, expected):
    assert spark_tag_command._reads_documents(Config().replace(**settings)) == expected


def test_the_promise_is_withdrawn_after_an_alarm(run_dir, tmp_path, model, metrics, call, capsys):
    model.targets = {"precision": 0.9, "recall": 0.95}
    text, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    text.write_text('{"tokens": ["Zagreb", "Zadar"]}\n' * 150)
    flags = [f"--run_dir={run_dir}", f"--input={text}", f"--output={out}"]
    assert call(tag, *flags, "--monitor") == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row.get("promise") for row in rows] == [None] * 100 + [False] * 50
    shift, withdrawn = capsys.readouterr().err.splitlines()
    assert shift.startswith("shift after 100 sentences")
    assert withdrawn.startswith("the promised precision of 0.9 and recall of 0.95 no longer holds")
    # A run that promises nothing has nothing to withdraw.
    model.targets = {}
    assert call(tag, *flags, "--monitor") == 0
    assert "promise" not in out.read_text()


def test_candidates(tag_text):
    (row,) = map(json.loads, tag_text("p0 x c x\n", "--return_candidates", "--format=tokens",
                                      "--output_format=jsonl").splitlines())  # fmt: skip
    span = {"text": "c x", "type": "PER", "start": 5, "end": 8}
    assert row["candidates"] == [{**span, "token_start": 2, "token_end": 4, "probability": 0.25}]


def test_mask(tag_text, model, capsys):
    model.targets = {"recall": 0.95}
    assert tag_text("p0 q1 x c x\n", "--mask", "--format=text") == "[PER] x [PER]\n"
    assert tag_text("p0 O\nx O\n\nc O\nx O\n", "--mask") == "[PER] x\n[PER]\n"
    quoting = {"entities": [{"text": "p0"}], "candidates": [{"text": "c"}], "source_text": "p0"}
    first = {"id": 7, "text": "x c x p0", **quoting}
    given = json.dumps(first) + "\n" + json.dumps({"text": ["Anna"], "id": 8})
    rows = [
        json.loads(line) for line in tag_text(given, "--mask", name="in.jsonl", code=1).splitlines()
    ]
    assert rows[0] == {"id": 7, "text": "x [PER] [PER]"}
    # What cannot be tagged is not shown either.
    assert rows[1] == {"id": 8, "error": "not read", "line": 2}
    assert "promised" not in capsys.readouterr().err
    model.targets = {}
    tag_text("x\n", "--mask", "--format=text")
    assert "No recall is promised" in capsys.readouterr().err


def test_what_overlaps_has_one_mask():
    spans = [Candidate("a b", "X", 0, 3, 0, 2, 0.2), Candidate("b c", "Y", 2, 5, 1, 3, 0.6)]
    rest = [[0.0] * 4, [1.0, 1.0, 1.0, 0.9], [False] * 4]
    tagged = TaggedSentence(
        list("abcd"), *[["O", "O", "O", "B-Z"]] * 3, *rest, "IOB2", candidates=spans
    )
    assert masked_text("a b c d", [tagged]) == "[Y] [Z]"
    refused = dataclasses.replace(tagged, accepted=[False] * 4)
    assert masked_text("a b c d", [refused]) == "[Y] d"
    assert masked_text("", []) == ""


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--mask", "--output_format=conll"], "--mask writes text, or JSON lines"),
        (["--mask", "--uncertainty_columns"], "--uncertainty_columns goes with"),
        (["--return_candidates"], "--return_candidates goes with --output_format=jsonl"),
        (["--return_mutual_information"], "--return_mutual_information goes with --output_format="),
    ],
)
def test_flags_that_do_not_go_together(run_dir, tmp_path, model, call, capsys, flags, said):
    text = tmp_path / "in.conll"
    text.write_text(CONLL)
    assert call(tag, f"--run_dir={run_dir}", f"--input={text}", *flags) == 2
    assert said in capsys.readouterr().err
