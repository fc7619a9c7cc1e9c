"""``uanet tag --model=NAME.tflite``."""

import json
from pathlib import Path

import pytest

import uanet_tf
from uanet_lite.columns_file import read_corpus
from uanet_lite.tokenizer import Tokenizer
from uanet_tf.commands.tag_command import tag

ROOT = Path(__file__).resolve().parents[3]


def test_a_file_is_tagged(call, path, model, trained_run, tmp_path):
    data = trained_run.parent / "data" / "dev.conll"
    output = tmp_path / "out.conll"
    arguments = [f"--model={path}", f"--input={data}", f"--output={output}"]
    assert call(tag, *arguments) == (0, "", "")
    tagged, corpus = read_corpus(output), read_corpus(data)
    expected = uanet_tf.tag(model, [sentence.tokens for sentence in corpus])
    assert [list(sentence.labels) for sentence in tagged] == [each.labels for each in expected]
    rows = output.read_text().splitlines()
    assert rows[0].split("\t")[:2] == data.read_text().splitlines()[0].split()[:2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--run_dir=runs/mine"], "--run_dir goes with a trained run, not with --model"),
        (["--num_samples=4"], "--num_samples goes with a trained run, not with --model"),
        (
            ["--model=no/such.tflite"],
            "--model=no/such.tflite is no file, and no model of the package: it has en_ewt_pos, "
            "en_ner.",
        ),
        (["--model=README.md"], "README.md is not a TensorFlow Lite model"),
        (["--input=no/such.conll"], "no/such.conll"),
        (["--format=xml"], "--format"),
        (["--num_threads=0"], "--num_threads"),
        (["--uncertainty_columns", "--output_format=jsonl"], "--uncertainty_columns goes with"),
        (
            ["--input=README.md", "--format=conll", "--token_column=99"],
            "README.md:1: too few columns",
        ),
        (["--modell=x"], "Unknown command line flag 'modell'"),
        (["x.conll"], "Arguments must be flags"),
    ],
)
def test_wrong_arguments(call, path, monkeypatch, arguments, said):
    monkeypatch.chdir(ROOT)
    code, out, err = call(tag, f"--model={path}", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_num_threads_is_the_interpreters(call):
    code, out, err = call(tag, "--run_dir=runs/mine", "--num_threads=2")
    assert (code, out) == (2, "")
    assert err.startswith("--num_threads goes with --model")


def test_raw_text_is_cut_as_the_training_text_was(call, path, model, tmp_path):
    text = tmp_path / "in.txt"
    text.write_text("Riverton's fans don't mind.\n")
    output = tmp_path / "out.jsonl"
    arguments = [f"--model={path}", f"--input={text}", f"--output={output}"]
    assert call(tag, *arguments, "--output_format=jsonl")[0] == 0
    tokens = json.loads(output.read_text())["tokens"]
    assert tokens == model.tokenizer.tokenize("Riverton's fans don't mind.")
    assert tokens != Tokenizer().tokenize("Riverton's fans don't mind.")
