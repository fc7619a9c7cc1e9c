"""Which epoch is the best one."""

import os
import subprocess
import sys

import pytest

from uanet_tf.config import Config, load_config
from uanet_tf.errors import InputError
from uanet_tf.training.run_directory import RunDirectory
from uanet_tf.training.saved_state import Progress


@pytest.fixture
def run(tmp_path):
    return RunDirectory(tmp_path / "deep" / "run")


def test_claim_makes_the_directory(run):
    assert not run.claim(Config())
    assert load_config(run.path) == Config()
    assert run.flags.read_text().startswith("--train_path=\n")
    run.release()
    assert run.claim(Config())


def test_a_second_process_is_refused(run):
    run.claim(Config())
    program = (
        "import sys\n"
        "from uanet_tf.config import Config\n"
        "from uanet_tf.errors import InputError\n"
        "from uanet_tf.training.run_directory import RunDirectory\n"
        "try: RunDirectory(sys.argv[1]).claim(Config())\n"
        "except InputError as error: print(error)\n"
    )
    command = [sys.executable, "-c", program, str(run.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{run.path} is being trained in by another process.\n"
    run.release()
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_another_configuration_is_refused(run):
    run.claim(Config())
    run.check(Config().replace(save_seconds=5))
    with pytest.raises(
        InputError, match=r"`threshold` was 0.35, now 0.5; `epochs` was 100, now 3\."
    ):
        run.check(Config().replace(epochs=3, threshold=0.5))


@pytest.mark.parametrize("text", ["{", "[1]", '{"data": 3}'])
def test_a_broken_configuration_is_refused(run, text):
    run.claim(Config())
    run.config.write_text(text)
    with pytest.raises(InputError, match=r"config.json is not a configuration"):
        run.check(Config())


def test_foreign_files_are_refused_and_left_alone(run):
    run.path.mkdir(parents=True)
    (run.path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match=r"holds other files \(thesis.tex, ...\) and no run"):
        run.check(Config())
    assert os.listdir(run.path) == ["thesis.tex"]


def test_a_corpus_may_lie_in_the_directory(run):
    (run.path / "data").mkdir(parents=True)
    run.check(Config())


def test_a_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(InputError, match="is a file, not a directory"):
        RunDirectory(path).check(Config())
    with pytest.raises(InputError, match="cannot be"):
        RunDirectory(path / "run").claim(Config())
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([1.0, 3.0, 2.0], 2),
        ([1.0, 3.0, 3.0], 2),  # of equal ones the first
        ([0.0, 0.0, 0.0], 3),  # but nothing is learnt yet where nothing is found
        ([0.0, 0.0, 1.0, 0.0], 3),
    ],
)
def test_the_best_epoch(scores, best):
    progress = Progress()
    for epoch, score in enumerate(scores, 1):
        progress.finish_epoch({"epoch": epoch}, score)
    assert progress.record["best_epoch"] == best
    assert progress.record["best_score"] == max(scores)
