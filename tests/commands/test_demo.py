"""``make demo``, made small: every part runs, and once more without training."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.tiny_run import TINY
from uanet_tf.commands import demo, runner
from uanet_tf.errors import InputError

ROOT = Path(__file__).resolve().parent.parent.parent
QUICK = TINY | {"epochs": 1, "batch_size": 64}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The demo as ``make demo`` runs it: its directory and what it printed."""
    directory = tmp_path_factory.mktemp("demo") / "demo"
    arguments = [f"--{name}={value}" for name, value in QUICK.items()]
    done = subprocess.run(
        [sys.executable, "-m", "uanet_tf.commands.demo", f"--run_dir={directory}", *arguments],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if key != "FORCE_COLOR"},
        capture_output=True,
        text=True,
        check=False,
    )
    return directory, done


def run_demo(directory: Path, **changes) -> int:
    demo.FLAGS.unparse_flags()
    for name in demo.FLAGS:
        demo.FLAGS[name].unparse()
    settings = [f"--{name}={value}" for name, value in (QUICK | changes).items()]
    argv = ["demo", f"--flagfile={demo.SETTINGS}", f"--run_dir={directory}", *settings]
    return runner.exit_code(demo.main, demo.FLAGS, argv)


def test_from_the_shell(first):
    directory, done = first
    assert done.returncode == 0, done.stderr
    said = ("tokenizer of raw text: ", "epoch 1: loss ", "adaptive sampling keeps ")
    assert len(done.stderr.splitlines()) == len(said)
    for line, start in zip(done.stderr.splitlines(), said, strict=True):
        assert line.startswith(start)
    assert "\x1b" not in done.stdout
    for text in (
        "1/4  A sample corpus",
        f"{directory}/data: sentences 1,500 in train.conll, 300 in dev.conll, 300 in test.conll",
        "2/4  Training UANet",
        "test.conll: 300 sentences",
        "gated",
        "4/4  Tagging",
        "Holmfield",
        f"--run_dir={directory} --format=text",
        "train --recipe=fast --train_path=train.conll",
    ):
        assert text in done.stdout


def test_again_and_with_other_settings(first, capsys, monkeypatch):
    directory, _ = first
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run_demo(directory) == 0
    out = capsys.readouterr().out
    assert "2/4  Training: done before, and not done again" in out
    assert "\x1b[1m1/4" in out

    # A demo of other settings leaves this one alone.
    monkeypatch.setattr(demo, "_train", lambda config, directory: print("train", directory))
    monkeypatch.setattr(demo, "_score", lambda config, directory: None)
    monkeypatch.setattr(demo, "_tag", lambda model: None)
    assert run_demo(directory, seed=7) == 0
    out = capsys.readouterr().out
    assert f"{directory} holds a demo with other settings" in out
    assert f"train {directory}-2" in out


def test_a_directory_that_cannot_be(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    assert run_demo(path) == 2
    assert capsys.readouterr().err == f"--run_dir={path} is a file, not a directory.\n"
    assert os.listdir(tmp_path) == ["file"]


def test_sentences_are_of_the_corpus(tmp_path):
    """Else their words would be unknown, and the demo would show little."""
    from uanet_tf.samples.sample_corpus import generate_sentences

    known = {token for sentence in generate_sentences(1_500) for token in sentence.tokens}
    for sentence in demo.SENTENCES:
        unknown = [token for token in sentence.split() if token not in known]
        assert [token for token in unknown if not token[0].isdigit()] == []


def test_no_place_left(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "_MOST_DIRECTORIES", 1)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.conll").write_text("mine")
    demo.FLAGS.unparse_flags()
    demo.FLAGS(["demo"])
    with pytest.raises(InputError, match="holds something else"):
        demo._write_corpus(str(tmp_path), demo.config_from_flags(demo.FLAGS))
