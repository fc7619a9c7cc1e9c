"""A run that is killed and started again ends with the weights of one that was not."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest
import tensorflow as tf

from tests.training.killing import (
    Killed,
    Moment,
    act_at,
    fit_and_be_killed,
    fit_with_copies,
    kill_at,
)
from tests.training.tiny_run import (
    LIGHT,
    assert_same_weights,
    metrics,
    run,
    start,
    timeless,
    tiny_config,
    train_command,
)
from uanet_tf.errors import InputError
from uanet_tf.models.tagger import Tagger
from uanet_tf.training import development, fit, saved_state
from uanet_tf.training.run_directory import RunDirectory

# Wide enough for the word table to be updated row by row, in both optimizers.
WIDE = {"word_width": 400, "save_seconds": 0, "drafter_learning_rate": 0.01}
# How the messages of training begin.
SAID = (
    "training on ",
    "tokenizer of ",
    "resuming ",
    "epoch ",
    "distilled on dev: ",
    "calibrated ",
    "warning: the gate costs ",
    "warning: after ",
)


def wait_for(process, condition, seconds=200) -> None:
    """Returns as soon as ``condition()`` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"it ended too early: {process.communicate()[1]}"
        assert time.monotonic() < end
        time.sleep(0.001)


def assert_same_run(left: Path, right: Path) -> None:
    assert_same_weights(left, right)
    assert timeless(metrics(left)) == timeless(metrics(right))


@pytest.mark.process
def test_stopped_killed_and_the_same_command_again(corpus, tmp_path):
    """SIGTERM, kill -9, to the end, and once more: each time the same command."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    fit.fit(tiny_config(corpus, **WIDE), whole)
    state = broken / "checkpoints"
    command = train_command(corpus, broken, **WIDE)

    # SIGTERM: saved, and exit code 143.
    with start(command) as process:
        wait_for(process, lambda: any(state.glob("ckpt-*.index")))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=100)
    assert (process.returncode, out) == (143, ""), err
    assert err.splitlines()[-1] == "stopped; the same command continues from the last saved state"
    assert list(state.glob("ckpt-*.index"))
    assert not (broken / "model.keras").exists()

    # kill -9 while a later checkpoint is being written.
    last = max(int(path.stem[5:]) for path in state.glob("ckpt-*.index"))
    with start(command) as process:
        wait_for(process, lambda: any(int(p.name[5:-5]) > last for p in state.glob("ckpt-*_temp")))
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (broken / "model.keras").exists()

    code, out, err = run(command)
    assert code == 0, err
    assert "\nresuming " in err
    assert out.startswith("dev: f1 ")
    assert "test: f1" in out
    # Messages as they are: no dates, process numbers and notes of TensorFlow.
    assert not [line for line in err.splitlines() if not line.startswith(SAID)]
    assert_same_run(whole, broken)
    assert not list(state.glob("*_temp"))
    code, again, err = run(command)
    assert (code, again) == (0, out)
    assert "is complete" in err


@pytest.fixture(scope="module")
def config(corpus):
    """Settings of a model that is made quickly."""
    return tiny_config(corpus, **LIGHT)


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory) -> Path:
    """A run that nobody disturbed; beside it, what kills would have left of it."""
    folder = tmp_path_factory.mktemp("runs")
    copies = {
        # In the first epoch: the state is saved after each, not within one.
        "step_7": Moment(saved_state.Progress, "advance", 7),
        "third_scores": Moment(development, "tag_in_context", 3),
        # The best weights are written, the state that knows of them is not.
        "last_state": Moment(saved_state.StateKeeper, "save", config.training.epochs),
        # All epochs are done and the model is written, but has no name yet.
        "model": Moment(Tagger, "save", 1, after=True),
    }
    copies = {folder / name: moment for name, moment in copies.items()}
    fit_with_copies(config, folder / "whole", copies)
    return folder / "whole"


@pytest.fixture
def left_at(whole, tmp_path):
    """Of a moment's name: what a kill left then, in a folder of this test's own."""
    return lambda name: shutil.copytree(whole.parent / name, tmp_path / name)


def test_killed_between_two_files(config, whole, left_at):
    run_dir = left_at("last_state")
    assert (run_dir / "checkpoints" / "best.weights.npz").exists()
    fit.fit(config, run_dir)
    assert_same_run(whole, run_dir)

    run_dir = left_at("model")
    assert list(run_dir.glob(".*.part.model.keras"))
    assert not (run_dir / "model.keras").exists()
    fit.fit(config, run_dir)
    assert_same_run(whole, run_dir)
    assert not list(run_dir.glob(".*part*"))

    # A complete run is not trained again.
    before = (run_dir / "model.keras").stat().st_mtime_ns
    assert fit.fit(config, run_dir) == metrics(run_dir)
    assert (run_dir / "model.keras").stat().st_mtime_ns == before


def test_a_damaged_complete_run_is_mended(config, whole, tmp_path):
    """``test_damaged_runs.py`` has other damage."""
    run_dir = tmp_path / "run"
    shutil.copytree(whole, run_dir)
    path = run_dir / "model.keras"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    fit.fit(config, run_dir)
    assert_same_run(whole, run_dir)


def test_killed_before_the_first_state(config, whole, left_at):
    run_dir = left_at("step_7")
    assert not list((run_dir / "checkpoints").glob("ckpt-*.index"))
    fit.fit(config, run_dir)
    assert_same_run(whole, run_dir)


def test_out_of_memory_is_one_sentence_and_the_same_command_continues(config, whole, tmp_path):
    error = tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")

    def fail():
        raise error

    with pytest.MonkeyPatch.context() as patch:
        act_at(patch, Moment(saved_state.Progress, "advance", 17), fail)
        with pytest.raises(
            InputError, match=r"the same command continues .*`batch_size=4` "
        ) as info:
            fit.fit(config, tmp_path)
    assert info.value.__cause__ is error
    assert len(list((tmp_path / "checkpoints").glob("ckpt-*.index"))) == 1
    fit.fit(config, tmp_path)
    assert_same_run(whole, tmp_path)


def test_ctrl_c_saves_at_once_and_between_two_steps(config, whole, tmp_path, monkeypatch):
    original, steps = saved_state.Progress.advance, iter(range(100))

    def advance(self, *args):
        if next(steps) == 13:  # the weights are ahead of the count of steps here
            os.kill(os.getpid(), signal.SIGINT)
        original(self, *args)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(saved_state.Progress, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        fit.fit(config, tmp_path)
    assert signal.getsignal(signal.SIGINT) is before
    fit.fit(config, tmp_path)
    assert next(steps) == 30  # no step was done twice
    assert_same_weights(whole, tmp_path)


def test_broken_checkpoints(config, whole, left_at, caplog):
    config = config.replace(save_seconds=0)
    run_dir = left_at("third_scores")
    state = run_dir / "checkpoints"
    data = sorted(state.glob("ckpt-*.data*"))
    assert len(data) == saved_state.KEPT_STATES
    pieces = {path: path.read_bytes() for path in state.glob("ckpt-*")}

    # TensorFlow's list is lost, and the newest state is cut off.
    (state / "checkpoint").write_bytes(b"\0rubbish")
    newest = max(data, key=lambda path: int(path.name.split(".")[0][5:]))
    newest.write_bytes(pieces[newest][:1000])
    fit_and_be_killed(config, run_dir, saved_state.Progress, "finish_epoch", 1)
    assert f"{newest.name.split('.')[0]} cannot be restored" in caplog.text

    # All are broken, each in another way.
    kept = {path: path.read_bytes() for path in state.glob("ckpt-*")}
    for path in kept:
        path.write_bytes(b"" if path.suffix == ".index" else kept[path][:100])
    with pytest.raises(InputError, match=r"None of the checkpoints in .* can be read: delete"):
        fit.fit(config, run_dir)
    for path, content in kept.items():
        path.write_bytes(content)
    fit.fit(config, run_dir)
    assert_same_weights(whole, run_dir)


def test_killed_while_the_directory_was_made(config, tmp_path):
    run_dir = tmp_path / "run"
    for call in (1, 2):
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, os, "replace", call)
            with pytest.raises(Killed):
                RunDirectory(run_dir).claim(config)
        RunDirectory(run_dir).check(config)
    assert RunDirectory(run_dir).claim(config)
