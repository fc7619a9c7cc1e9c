"""``make demo``, made small: every part runs, and once more without training."""

import io
import os
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import pytest

from tests.training.tiny_run import TINY
from uanet_tf.commands import demo_command, runner

pytestmark = pytest.mark.process

QUICK = TINY | {"epochs": 1, "batch_size": 64}


@pytest.fixture(scope="module")
def small_corpus():
    with pytest.MonkeyPatch.context() as patch:
        sizes = {"train_sentences": 60, "dev_sentences": 20, "test_sentences": 20}
        patch.setattr(
            demo_command, "write_sample_corpus", partial(demo_command.write_sample_corpus, **sizes)
        )
        yield


@pytest.fixture(scope="module")
def first(tmp_path_factory, small_corpus):
    """The demo, in this process: its directory and what it printed."""
    directory = tmp_path_factory.mktemp("demo") / "demo"
    with redirect_stdout(io.StringIO()) as out:
        assert run_demo(directory) == 0
    return directory, out.getvalue()


def run_demo(directory: Path, **changes) -> int:
    settings = [f"--{name}={value}" for name, value in (QUICK | changes).items()]
    return runner.exit_code(demo_command.demo, ["demo", f"--run_dir={directory}", *settings])


def test_again_and_with_other_settings(first, capsys, monkeypatch):
    directory, _ = first
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(demo_command, "_show", lambda model, sentences: print("tagged"))
    assert run_demo(directory) == 0
    out = capsys.readouterr().out
    assert "3/5  Training: already done" in out
    assert "\x1b[1m1/5" in out
    assert "tagged" in out

    assert run_demo(directory, seed=7) == 2
    assert "--seed" in capsys.readouterr().err  # a demo of other settings leaves this one alone


def test_a_directory_that_cannot_be(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    assert run_demo(path) == 2
    assert capsys.readouterr().err == f"--run_dir={path} is a file, not a directory.\n"
    assert os.listdir(tmp_path) == ["file"]


def test_sentences_are_of_the_corpus(tmp_path):
    """Else their words would be unknown, and the demo would show little."""
    from uanet_tf.resources.sample_corpus import generate_sentences

    known = {token for sentence in generate_sentences(1_500) for token in sentence.tokens}
    for sentence in demo_command.SENTENCES:
        unknown = [token for token in sentence.split() if token not in known]
        assert [token for token in unknown if not token[0].isdigit()] == []


def test_files_of_others_stay(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.conll").write_text("mine")
    assert run_demo(tmp_path) == 2
    assert "holds something else" in capsys.readouterr().err
