"""train.py from outside: bad input gets one sentence, exit code 2, and nothing is written."""

import subprocess
import sys
from pathlib import Path

import pytest
from absl import logging

from tests.training.tiny_run import TINY, write_corpus
from uanet_tf.commands import runner
from uanet_tf.commands.train_command import train
from uanet_tf.training import fit as fit_module

GOOD = "Anna\tB-PER\nran\tO\n\nin\tO\nRio\tB-LOC\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def call(tmp_path, capsys):
    """Runs what train.py runs, in this process; returns (exit code, stderr)."""
    files = {name: tmp_path / f"{name}.conll" for name in ("train", "dev", "test")}
    for path in files.values():
        path.write_text(GOOD)
    tiny = tmp_path / "tiny.flags"
    tiny.write_text("".join(f"--{name}={value}\n" for name, value in TINY.items()))

    def call(*arguments, run_dir=tmp_path / "run"):
        paths = [f"--{name}_path={path}" for name, path in files.items()]
        argv = ["train.py", *paths, f"--flagfile={tiny}", f"--run_dir={run_dir}", *arguments]
        code = runner.exit_code(train, argv, logging.INFO)
        return code, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--epohcs=3", "Unknown command line flag 'epohcs'. Did you mean: epochs ?"),
        ("--epochs=many", "--epochs must be a whole number. Received: many"),
        ("--embedding_dropout=1", "--embedding_dropout must be below 1.0. Received: 1.0"),
        ("--recurrent_dropout=-0.1", "--recurrent_dropout must be at least 0.0. Received: -0.1"),
        ("--threshold=-1", "--threshold must be at least 0.0. Received: -1.0"),
        ("--threshold=nan", "--threshold must be a finite number. Received: nan"),
        ("--batch_size=0", "--batch_size must be at least 1. Received: 0"),
        ("--hidden_width=7", "--hidden_width must be even"),
        ("--decoder=crfx", "uanet"),
        ("--train_path=", "--train_path is required"),
        ("--train_path=no/such.conll", "no/such.conll"),
        ("--token_column=7", "train.conll:1: too few columns"),
        ("--flagfile=no/such.flags", "no/such.flags"),
        ("--distill_path=no/such.txt", "no/such.txt: no such file"),
        ("--distill_path=train.py,", "--distill_path=train.py, has an empty name"),
        ("--distill_path=train.py", "--distill_path=train.py is for the head of --sampling="),
    ],
)
def test_bad_arguments(call, tmp_path, argument, said):
    code, err = call(argument)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["train", "dev", "test"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no sentence found, the file is empty"),
        (b"Anna B-PER\nran\n", ":2: too few columns"),
        (b"Anna B-PER\n\xff\xfe O\n", ":2: "),
    ],
)
def test_bad_files(call, tmp_path, name, content, said):
    (tmp_path / f"{name}.conll").write_bytes(content)
    code, err = call()
    assert code == 2
    assert f"{name}.conll{said}" in err or (f"{name}.conll" in err and said in err)
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_run_dir_on_a_read_only_place(call):
    code, err = call(run_dir="/proc/run")
    assert code == 2
    assert err.startswith("--run_dir=/proc/run cannot be written")
    assert err.count("\n") == 1


@pytest.mark.parametrize("argument", ["--help", "--helpfull"])
def test_help_shows_every_setting(argument):
    command = [sys.executable, "train.py", argument]
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "Trains a tagger" in text
    assert "--run_dir: Directory of the run" in text
    for group, field, value in runner_options():
        name = f"[no]{field.name}" if isinstance(value, bool) else field.name
        assert f"--{name}:" in text, group
        assert field.metadata["help"][-25:] in text
    assert ("--verbosity" in text) == (argument == "--helpfull")


def runner_options():
    from uanet_tf.config import Config, iter_options
    from uanet_tf.option import has_flag

    return [line for line in iter_options(Config()) if has_flag(line[1], "train")]


def test_ctrl_c(call, tmp_path, monkeypatch, caplog):
    def interrupted(self, bar):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module._Training, "_train_epoch", interrupted)
    assert call()[0] == 130
    said = "stopped; the same command continues from the last saved state"
    assert caplog.messages[-1] == said
    assert not (tmp_path / "run" / "model.keras").exists()
