"""docs/extending.md, followed to the letter in a copy of the package."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.tiny_run import ROOT, metrics, write_corpus

TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SMALL = (
    "--hidden_width=32",
    "--word_width=24",
    "--char_filters=12",
    "--embedding_dropout=0.1",
    "--num_samples=2",
    "--batch_size=4",
    "--epochs=15",
    "--drafter_learning_rate=0.02",
)


def block(introduction: str) -> str:
    """The code block behind the first line that holds ``introduction``."""
    start = TEXT.index(introduction)
    found = re.compile(r"```\w*\n(.*?)```", re.DOTALL).search(TEXT, start)
    assert found is not None
    return found.group(1)


def run(folder: Path, *arguments: str, text: str | None = None, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, input=text, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr[-2000:]
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The package and its scripts with the document's file, line and flagfile."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("uanet_tf", "uanet_lite"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "train.py", folder)
    for name in ("uanet_tf/decoders/prototype.py", "configs/prototype.flags"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        assert not (ROOT / name).exists()
        path.write_text(block(f"`{name}`:"), encoding="utf-8")
    registry = folder / "uanet_tf" / "registry.py"
    before = registry.read_text(encoding="utf-8")
    line = block("in the table `DECODERS`")
    assert line.count("\n") == 1
    after = before.replace("DECODERS = {\n", "DECODERS = {\n" + line)
    assert after != before
    registry.write_text(after, encoding="utf-8")
    return folder


@pytest.mark.process
def test_it_trains_and_tags(copy, tmp_path):
    corpus = write_corpus(tmp_path)
    run(
        copy,
        "train.py",
        "--flagfile=configs/prototype.flags",
        f"--train_path={corpus.train}",
        f"--dev_path={corpus.train}",
        *SMALL,
        f"--run_dir={tmp_path / 'run'}",
    )
    scores = metrics(tmp_path / "run")
    assert scores["dev"]["f1"] > 60
    assert scores["dev"]["uncertainty_correct"] > 0
    tagged = run(
        copy,
        "-m",
        "uanet_tf.commands.uanet",
        "tag",
        f"--run_dir={tmp_path / 'run'}",
        text="Anna met Bo .\n",
    )
    assert "Anna" in tagged


def test_the_flag_knows_the_new_name(copy):
    """And wrong names are still refused in one sentence, which lists it."""
    message = run(copy, "train.py", "--decoder=prototypes", code=2)
    assert "prototype" in message
    assert message.count("\n") == 1
    assert "Traceback" not in message
