"""The command of uanet_lite: a line in, an answer out."""

import io
import json
import sys

import pytest

from uanet_lite import command
from uanet_lite.columns_file import read_corpus


@pytest.fixture
def call(path, capsys, monkeypatch):
    """Runs the command in this process; returns exit code, stdout and stderr."""

    def call(*arguments, text=None):
        if text is not None:
            stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
            monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit) as exit_:
            command.run([f"--model={path}", *map(str, arguments)])
        return exit_.value.code, *capsys.readouterr()

    return call


def test_every_line_of_text_has_an_answer(call, lite_tagger):
    text = "Riverton beat Marlow.\r\n\n \nKelton won"
    code, out, err = call(text=text)
    assert (code, err) == (0, "")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["text"] for answer in answers] == [
        "Riverton beat Marlow.",
        "",
        " ",
        "Kelton won",
    ]
    assert [answers[0], answers[3]] == [
        json.loads(json.dumps(tagged.to_dict()))
        for tagged in lite_tagger.tag([answers[0]["text"], answers[3]["text"]])
    ]


def test_json_is_known_by_its_first_line(call):
    code, out, err = call(text='{"id": 7, "text": "Kelton won"}\n')
    assert code == 0
    assert err == (
        "standard input: read as jsonl (JSON, one object per line); --format says otherwise\n"
    )
    (answer,) = map(json.loads, out.splitlines())
    assert (answer["id"], answer["tokens"]) == (7, ["Kelton", "won"])


@pytest.mark.parametrize("threads", [1, 2])
def test_lines_that_cannot_be_tagged_have_their_reason(call, threads):
    lines = [
        "{",
        '{"id": 1, "tokens": ["Kelton", "won"]}',
        " \t",
        '{"id": 2}',
        '{"id": 3, "tokens": [""]}',
        '{"id": 4, "tokens": []}',
        '{"id": 5, "text": "Oslo lost", "half": "\\ud800"}',
        "[]",
    ]
    code, out, err = call("--format=jsonl", f"--threads={threads}", text="\n".join(lines))
    answers = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert err == "4 lines have an error instead of an answer.\n"
    assert [answer.get("line") for answer in answers] == [1, None, None, 4, 5, None, None, 8]
    assert [answer.get("id") for answer in answers] == [None, 1, None, 2, 3, 4, 5, None]
    assert answers[2]["text"] == ""
    # A line without an object is one without words, as for `uanet tag`.
    assert [len(each["tokens"]) for each in answers if "labels" in each] == [2, 0, 0, 2]
    assert "not JSON" in answers[0]["error"]
    assert 'not an object with the key "tokens"' in answers[3]["error"]
    code, out, err = call("--format=jsonl", "--output_format=conll", text="\n".join(lines))
    assert (code, out) == (2, "")
    assert err.startswith("Line 1 of the input: not JSON")


def test_a_conll_file(call, trained_run, lite_tagger, tmp_path):
    data, output = trained_run.parent / "data" / "dev.conll", tmp_path / "out.conll"
    assert call(f"--input={data}", f"--output={output}", "--threads=2") == (0, "", "")
    tagged, corpus = read_corpus(output), read_corpus(data)
    expected = lite_tagger.tag([sentence.tokens for sentence in corpus])
    assert [list(sentence.labels) for sentence in tagged] == [each.labels for each in expected]
    assert [sentence.tokens for sentence in tagged] == [sentence.tokens for sentence in corpus]
    assert [file.name for file in tmp_path.iterdir()] == ["out.conll"]


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (["--input=no/such"], None, "no/such: no such file."),
        (["--format=xml"], None, "Argument --format: invalid choice: 'xml'"),
        (["--threads=0"], "", "--threads must be at least 1. Received: 0"),
        (["--modell=x"], None, "Unrecognized arguments: --modell=x"),
        (
            ["--format=conll", "--token_column=4"],
            "a b\n",
            "<stdin>:1: too few columns: found 2 columns",
        ),
        (["--format=conll"], "a\n" + "x" * 1001 + " b\n", "<stdin>:2: a token of 1,001 characters"),
        (["--output=no/such/file"], "a", "no/such/file: cannot be written (No such file"),
        (["--model=README.md"], "", "README.md is not a TensorFlow Lite model"),
    ],
)
def test_wrong_arguments(call, arguments, text, said):
    code, out, err = call(*arguments, text=text)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_failure_leaves_no_file(call, tmp_path):
    output = tmp_path / "out"
    output.write_text("older")
    code, _, err = call(
        "--format=conll", f"--output={output}", "--token_column=0", text="a b\n\n\tc\n"
    )
    assert code == 2
    assert "<stdin>:3: the token is empty" in err
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert output.read_text() == "older"
