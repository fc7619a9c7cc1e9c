"""Spark gives the answers of ``uanet_tf.tag``, in one process, in several, and after a kill -9."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import uanet_tf
from tests import last_bits
from uanet_tf.commands import runner
from uanet_tf.commands.spark_tag_command import spark_tag
from uanet_tf.commands.tag_command import tag
from uanet_tf.errors import InputError
from uanet_tf.spark import session as session_module

ROOT = Path(__file__).resolve().parents[2]
SCORES = ("uncertainty", "confidence")


@pytest.fixture(scope="module")
def spark(spark_is_here):
    session = session_module.make_session("local[2]", spark__driver__memory="1g")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def expected(run_dir, sentences):
    return uanet_tf.tag(uanet_tf.load_model(run_dir), sentences)


def assert_same(actual, expected):
    assert actual["labels"] == expected.labels
    assert actual["draft_labels"] == expected.draft_labels
    assert actual["tokens"] == expected.tokens
    for name in SCORES:
        np.testing.assert_allclose(actual[name], getattr(expected, name), rtol=0, atol=2e-6)


@pytest.mark.process
@pytest.mark.parametrize("partitions", [1, 4])
def test_a_column_of_words(spark, run_dir, sentences, expected, partitions):
    rows = [(number, words, "kept") for number, words in enumerate(sentences)]
    schema = "id int, words array<string>, other string"
    table = spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), schema)
    tagged = uanet_tf.spark.tag(table, run_dir, column="words")
    assert tagged.columns == ["id", "words", "other", "tagged", "error"]
    found = tagged.collect()
    assert [row.id for row in found] == list(range(len(sentences)))
    assert {row.other for row in found} == {"kept"}
    assert {row.error for row in found} == {None}
    for row, answer in zip(found, expected, strict=True):
        assert_same(row.tagged, answer)
        assert row.tagged.text == " ".join(answer.tokens)
        spans = [(each.type, each.token_start, each.token_end) for each in row.tagged.entities]
        assert spans == [tuple(span) for span in answer.spans]
        assert row.tagged.accepted == answer.accepted
        assert [e.accepted for e in row.tagged.entities] == [e.accepted for e in answer.entities]
    assert any(row.tagged.entities for row in found)


@pytest.mark.process
def test_texts_and_rows_that_cannot_be_tagged(spark, run_dir, expected):
    texts = ["  Ann met\tBo van Beck.", None, "", " ", "x" * 1001]
    table = spark.createDataFrame([(text,) for text in texts], "text string")
    first, missing, *empty, long = uanet_tf.spark.tag(table, run_dir).collect()
    assert first.tagged.tokens == ["Ann", "met", "Bo", "van", "Beck", "."]
    assert first.tagged.text == texts[0]
    for token, start, end in zip(
        first.tagged.tokens, first.tagged.starts, first.tagged.ends, strict=True
    ):
        assert texts[0][start:end] == token
    for entity in first.tagged.entities:
        assert texts[0][entity.start : entity.end] == entity.text
        inside = slice(entity.token_start, entity.token_end)
        assert entity.confidence == min(first.tagged.confidence[inside])
    assert [row.tagged.tokens for row in empty] == [[], []]
    assert (missing.tagged, long.tagged) == (None, None)
    assert missing.error == "There is no text, or a word is missing or empty."
    assert long.error.startswith("the row: word 0 has 1,001 characters")
    words = spark.createDataFrame([(["a", ""],), (["a", None],), ([],)], "text array<string>")
    bad, worse, none = uanet_tf.spark.tag(words, run_dir, num_samples=0).collect()
    assert bad.error == worse.error == missing.error
    assert none.tagged.labels == []
    assert none.tagged.accepted is none.tagged.mutual_information is None


@pytest.mark.process
def test_answers_on_request(spark, run_dir, sentences):
    rows = [(words,) for words in [*sentences[:5], []]]
    table = spark.createDataFrame(rows, "words array<string>")
    options = {"return_alternatives": 2, "return_mutual_information": True}
    *found, empty = uanet_tf.spark.tag(table, run_dir, column="words", **options).collect()
    assert empty.tagged.alternatives == []
    expected = uanet_tf.tag(uanet_tf.load_model(run_dir, **options), sentences[:5])
    for row, answer in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            row.tagged.mutual_information, answer.mutual_information, rtol=0, atol=2e-6
        )
        for ours, theirs in zip(row.tagged.alternatives, answer.alternatives, strict=True):
            assert [pair.probability for pair in ours] == pytest.approx(
                [probability for _, probability in theirs], abs=2e-6
            )
            assert ours[0].label == theirs[0][0]


@pytest.mark.process
def test_wrong_arguments(spark, run_dir, tmp_path):
    table = spark.createDataFrame([(1, "a")], "id int, text string")
    with pytest.raises(InputError, match="There is no column 'x'; there are id, text"):
        uanet_tf.spark.tag(table, run_dir, column="x")
    with pytest.raises(InputError, match=r"must hold strings or arrays of strings\. Received: int"):
        uanet_tf.spark.tag(table, run_dir, column="id")
    with pytest.raises(InputError, match=r"holds no model\.keras"):
        uanet_tf.spark.tag(table, tmp_path)
    with pytest.raises(InputError, match="has a column 'error' already"):
        uanet_tf.spark.tag(table.withColumnRenamed("id", "error"), run_dir)


# ------------------------------------------------------------------------------ command


@pytest.fixture
def call(capsys):
    def call(*arguments):
        code = runner.exit_code(spark_tag, ["p", *map(str, arguments)])
        return code, capsys.readouterr().err

    return call


def text_of(folder):
    """The lines of the parts, in their order."""
    return "".join(part.read_text(encoding="utf-8") for part in sorted(folder.glob("part-*")))


def lines_of(folder):
    return [json.loads(line) for line in text_of(folder).splitlines()]


COPIES = 40


@pytest.fixture(scope="module")
def many_lines(sentences):
    """Lines of JSON, with their ends: the sentences many times."""
    rows = enumerate(sentences * COPIES)
    return [json.dumps({"id": n, "tokens": words, "more": "x" * 100}) + "\n" for n, words in rows]


@pytest.fixture(scope="module")
def many_answers(run_dir, many_lines, tmp_path_factory):
    """What ``uanet tag`` writes for them, in this process."""
    folder = tmp_path_factory.mktemp("whole")
    data, output = folder / "in.jsonl", folder / "out.jsonl"
    data.write_text("".join(many_lines), encoding="utf-8")
    flags = [f"--run_dir={run_dir}", f"--input={data}", f"--output={output}"]
    assert runner.exit_code(tag, ["p", *flags, "--output_format=jsonl"]) == 0
    answers = output.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(answers) == len(many_lines)
    return answers


@pytest.mark.process
@pytest.mark.usefixtures("spark")
def test_files(call, run_dir, sentences, expected, tmp_path):
    data = tmp_path / "in.jsonl"
    lines = [json.dumps({"id": n, "tokens": words}) for n, words in enumerate(sentences)]
    data.write_text("\n".join(["{", *lines, '{"tokens": []}']), encoding="utf-8")
    output = tmp_path / "out"
    assert call(f"--run_dir={run_dir}", f"--input={data}", f"--output={output}") == (0, "")
    bad, *found, empty = lines_of(output)
    assert "not JSON" in bad["error"]
    assert empty["labels"] == []
    assert [line["id"] for line in found] == list(range(len(sentences)))
    for line, answer in zip(found, expected, strict=True):
        assert_same(line, answer)
    code, err = call(f"--run_dir={run_dir}", f"--input={data}", f"--output={output}")
    assert code == 2
    assert "already exists" in err

    conll = tmp_path / "in.conll"
    rows = ["".join(f"{word}\tO\n" for word in words) for words in sentences]
    conll.write_text("-DOCSTART- O\n\n" + "\n".join(rows), encoding="utf-8")
    output = tmp_path / "out2"
    assert call(f"--run_dir={run_dir}", f"--input={conll}", f"--output={output}") == (0, "")
    assert [line["labels"] for line in lines_of(output)] == [each.labels for each in expected]


@pytest.mark.process
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_the_same_bytes_as_one_process(
    call, run_dir, sentences, many_lines, many_answers, tmp_path, partitions
):
    data, output = tmp_path / "in.jsonl", tmp_path / "out"
    count = 10 * partitions * len(sentences)
    data.write_text("".join(many_lines[:count]), encoding="utf-8")
    flags = [f"--run_dir={run_dir}", f"--input={data}", f"--output={output}"]
    assert call(*flags, f"--partitions={partitions}") == (0, "")
    assert len([part for part in output.glob("part-*") if part.stat().st_size]) == partitions
    last_bits.assert_same_lines(text_of(output), "".join(many_answers[:count]))


@pytest.mark.process
def test_parquet(call, spark, run_dir, sentences, expected, tmp_path):
    rows = [(n, words, "x") for n, words in enumerate(sentences)]
    table = spark.createDataFrame(rows, "id int, words array<string>, other string")
    table.coalesce(1).write.parquet(str(tmp_path / "in.parquet"))
    output = tmp_path / "out"
    flags = ["--text_column=words", "--id_column=id", f"--output={output}"]
    assert call(f"--run_dir={run_dir}", f"--input={tmp_path}/in.parquet", *flags) == (0, "")
    tagged = spark.read.parquet(str(output))
    assert tagged.columns == ["id", "tagged", "error"]
    found = sorted(tagged.collect(), key=lambda row: row.id)
    assert [row.tagged.labels for row in found] == [each.labels for each in expected]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--input=a.jsonl"], "--output is required."),
        (["--output=b"], "--input is required."),
        (["--input=a", "--output=b"], "--format is required: the name a does not tell it."),
        (["--input=a.jsonl", "--output=b", "--partitions=0"], "--partitions"),
    ],
)
def test_wrong_flags(call, run_dir, arguments, said):
    code, err = call(f"--run_dir={run_dir}", *arguments)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


# ---------------------------------------------------------------------------- a cluster


def descendants(pid):
    """{process: its command line} of all that a process started."""
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue  # it has ended
            parents[int(entry.name)] = (int(fields[1]), line)
    known = {pid}
    for _ in parents:
        new = {child for child, (parent, _) in parents.items() if parent in known} - known
        if not new:
            break
        known |= new
        found |= {child: parents[child][1] for child in new}
    return found


@pytest.mark.process
@pytest.mark.usefixtures("spark_is_here")
def test_an_executor_is_killed(run_dir, many_lines, many_answers, tmp_path):
    """``local-cluster``: a master and workers and executors in processes of their own."""
    data, output = tmp_path / "in.jsonl", tmp_path / "out"
    data.write_text("".join(many_lines), encoding="utf-8")
    flags = [f"--run_dir={run_dir}", f"--input={data}", f"--output={output}", "--partitions=8"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "uanet_tf.commands.uanet",
            "spark_tag",
            "--master=local-cluster[2,1,1024]",
            *flags,
        ],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"SPARK_LOCAL_DIRS": str(tmp_path)},
    )
    killed = []

    def kill_one():
        """As soon as a first partition is written, and others are at work."""
        while process.poll() is None and not killed:
            if len(list(output.rglob("part-*"))) >= 1:
                executors = [
                    pid
                    for pid, line in descendants(process.pid).items()
                    if "CoarseGrainedExecutorBackend" in line
                ]
                if executors:
                    os.kill(executors[0], signal.SIGKILL)
                    killed.append(executors[0])
            time.sleep(0.05)

    killer = threading.Thread(target=kill_one)
    killer.start()
    err = process.communicate(timeout=900)[1]
    killer.join()
    assert process.returncode == 0, err[-2000:]
    assert killed
    last_bits.assert_same_lines(text_of(output), "".join(many_answers))


# --------------------------------------------------------------------------------- Java


def test_java_is_asked_for_in_one_sentence(tmp_path, monkeypatch):
    pytest.importorskip("pyspark", reason="needs pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match="Spark needs Java 17 or newer, and there is none: install"
    ):
        session_module.check_spark()
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    with pytest.raises(InputError, match=r"java is version 11: install one \(Debian: apt-get"):
        session_module.check_spark()


def test_pyspark_is_asked_for_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"needs the package pyspark .*uanet_tf\[spark\]"):
        session_module.check_spark()
