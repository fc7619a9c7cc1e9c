"""Files, lines and arguments that `tag` refuses."""

import json

import pytest

from uanet_tf.commands.tag_command import tag


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.conll", b"", "a.conll: no sentence found, the file is empty."),
        (
            "a.conll",
            b"-DOCSTART- O\n\n",
            "a.conll: no sentence found, it has no line with a token.",
        ),
        ("a.txt", b"", "a.txt: no sentence found, the file is empty."),
        ("a.conll", b"x\n\n\xff\n", "a.conll:3: not UTF-8"),
        (
            "a.json",
            b'[\n {"tokens": ["x"]}\n]\n',
            "a.json: JSON is read with an object in each line",
        ),
        ("a.txt", b"a\n" + b"x" * 5000, "a.txt:2: token 0 has 5,000 characters"),
    ],
)
def test_bad_files(tmp_path, run_dir, model, call, capsys, name, content, message):
    path, output = tmp_path / name, tmp_path / "output"
    path.write_bytes(content)
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}", f"--output={output}") == 2
    err = capsys.readouterr().err
    assert err.startswith(f"{tmp_path}/{message}")
    assert err.count("\n") == 1
    assert not output.exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ', "not JSON (Expecting value"),
        ('["a"]', "a list, not an object: write one object per line"),
        ('"a"', 'not an object with the key "tokens" or "text"'),
        ('{"words": ["a"]}', 'not an object with the key "tokens" or "text"'),
        ('{"tokens": "a b"}', '"tokens" must be a list of strings'),
        ('{"text": ["a b"]}', '"text" must be a string'),
        ('{"tokens": ["a", 1]}', "token 1 must be a string that is not empty"),
        ('{"tokens": ["a", ""]}', "token 1 must be a string that is not empty"),
        ('{"tokens": ["\\ud800"]}', "token 0 is not valid Unicode"),
        ('{"text": "a \\ud800"}', '"text" is not valid Unicode'),
        ("[" * 100_000, "not JSON (nested too deeply)"),
    ],
)
def test_a_bad_line_of_json_is_answered_and_told(
    tmp_path, run_dir, model, call, capsys, line, message
):
    path, output = tmp_path / "a.jsonl", tmp_path / "output"
    path.write_text('{"tokens": ["p0"]}\n' + line + '\n{"tokens": ["l1"]}\n')
    assert call(tag, f"--run_dir={run_dir}", f"--input={path}", f"--output={output}") == 1
    good, bad, after = map(json.loads, output.read_text().splitlines())
    assert (good["labels"], after["labels"]) == (["B-PER"], ["B-LOC"])
    assert bad["line"] == 2
    assert bad["error"].startswith(message)
    assert capsys.readouterr().err.startswith(f"{path}:2: {message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--run_dir is required"),
        (["--run_dir=/no/such"], "/no/such is not a run directory: it has no config.json."),
        (["--run_dir={run}", "--input=/no/such"], "/no/such: no such file."),
        (["--run_dir={run}", "--threshold=-1"], "--threshold must be at least 0.0. Received: -1.0"),
        (
            ["--run_dir={run}", "--threshold=nan"],
            "--threshold must be a finite number. Received: nan",
        ),
        (["--run_dir={run}", "--batch_size=0"], "--batch_size=0: 0 is not a positive integer"),
        (["--run_dir={run}", "--format=xml"], "--format=xml: value should be one of"),
        (
            ["--run_dir={run}", "--uncertainty_columns", "--output_format=jsonl"],
            "--uncertainty_columns goes with --output_format=conll",
        ),
    ],
)
def test_bad_arguments_are_told_before_loading(run_dir, call, capsys, arguments, message):
    assert call(tag, *(argument.format(run=run_dir) for argument in arguments)) == 2
    assert capsys.readouterr().err.startswith(message)
