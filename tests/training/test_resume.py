"""A run that is killed and started again ends with the weights of one that was not."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.training.tiny_run import (
    assert_same_weights,
    metrics,
    run,
    start,
    timeless,
    tiny_config,
    train_command,
)
from uanet_tf.errors import InputError
from uanet_tf.training import corpus_scorer, fit, progress
from uanet_tf.training.run_directory import RunDirectory

# Wide enough for the word table to be updated row by row, in both optimizers.
WIDE = {"word_width": 400, "save_seconds": 0, "drafter_learning_rate": 0.01}


def kill_when(process, condition, seconds=600) -> None:
    """kill -9 as soon as ``condition()`` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, f"it ended too early: {process.communicate()[1]}"
        assert time.monotonic() < end
        time.sleep(0.001)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def test_kill_9_and_the_same_command_again(corpus, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    code, _, err = run(train_command(corpus, whole, **WIDE))
    assert code == 0, err

    state = broken / "checkpoints"
    moments = {
        # In the middle of the first epoch, while a checkpoint is being written.
        "saving": lambda: any(int(p.name[5:-5]) > 4 for p in state.glob("ckpt-*_temp")),
        # The best weights are written, the state that knows of them is not.
        "scored": lambda: (state / "best.weights.npz").exists(),
        # All epochs are done, the model is being written.
        "finishing": lambda: (broken / ".model.part.keras").exists(),
    }
    command = train_command(corpus, broken, **WIDE)
    for condition in moments.values():
        with start(command) as process:
            kill_when(process, condition)
    assert not (broken / "model.keras").exists()
    code, out, err = run(command)
    assert code == 0, err
    assert "resuming" in err
    assert "test: f1" in out
    assert_same_weights(whole, broken)
    assert timeless(metrics(whole)) == timeless(metrics(broken))
    assert not list(state.glob("*_temp"))
    assert not list(broken.glob(".*part*"))

    # A complete run is not trained again.
    before = (broken / "model.keras").stat().st_mtime_ns
    finished = fit.fit(tiny_config(corpus, **WIDE), broken)
    assert finished == metrics(broken)
    assert (broken / "model.keras").stat().st_mtime_ns == before


class Killed(BaseException):
    """In place of kill -9, inside this process: nothing is written after it."""


def kill_at(monkeypatch, owner, name, call):
    """The ``call``-th call of a function kills."""
    original, count = getattr(owner, name), iter(range(1, 1_000_000))

    def killing(*args, **kwargs):
        if next(count) == call:
            raise Killed
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, killing)


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory) -> Path:
    """A run that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole")
    fit.fit(tiny_config(corpus), path)
    return path


def fit_and_be_killed(config, run_dir, owner, name, call):
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, owner, name, call)
        with pytest.raises(Killed):
            fit.fit(config, run_dir)


@pytest.mark.parametrize("name", ["model.keras", "metrics.json"])
def test_a_damaged_complete_run_is_mended(corpus, whole, tmp_path, name):
    run_dir = tmp_path / "run"
    shutil.copytree(whole, run_dir)
    path = run_dir / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    fit.fit(tiny_config(corpus), run_dir)
    assert_same_weights(whole, run_dir)
    assert timeless(metrics(whole)) == timeless(metrics(run_dir))


def test_steps_after_the_last_save_are_done_again(corpus, whole, tmp_path):
    config = tiny_config(corpus)  # the state is saved after each epoch, not within one
    fit_and_be_killed(config, tmp_path, progress.Progress, "advance", 7)
    fit_and_be_killed(config, tmp_path, progress.Progress, "advance", 17)
    fit.fit(config, tmp_path)
    assert_same_weights(whole, tmp_path)
    assert timeless(metrics(whole)) == timeless(metrics(tmp_path))


def test_ctrl_c_saves_at_once_and_between_two_steps(corpus, whole, tmp_path, monkeypatch):
    config = tiny_config(corpus)
    original, steps = progress.Progress.advance, iter(range(100))

    def advance(self, *args):
        if next(steps) == 13:  # the weights are ahead of the count of steps here
            os.kill(os.getpid(), signal.SIGINT)
        original(self, *args)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(progress.Progress, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        fit.fit(config, tmp_path)
    assert signal.getsignal(signal.SIGINT) is before
    fit.fit(config, tmp_path)
    assert next(steps) == 30  # no step was done twice
    assert_same_weights(whole, tmp_path)


def test_a_second_ctrl_c_does_not_wait(corpus, tmp_path):
    config = tiny_config(corpus)

    def score(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("not reached")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit, "score_corpus", score)
        with pytest.raises(KeyboardInterrupt):
            fit.fit(config, tmp_path)


def test_broken_checkpoints(corpus, whole, tmp_path, caplog):
    config = tiny_config(corpus, save_seconds=0)
    fit_and_be_killed(config, tmp_path, corpus_scorer, "tag_in_context", 2)
    state = tmp_path / "checkpoints"
    data = sorted(state.glob("ckpt-*.data*"))
    assert len(data) == progress.KEPT_STATES
    pieces = {path: path.read_bytes() for path in state.glob("ckpt-*")}

    # TensorFlow's list is lost, and the newest state is cut off.
    (state / "checkpoint").write_bytes(b"\0rubbish")
    newest = max(data, key=lambda path: int(path.name.split(".")[0][5:]))
    newest.write_bytes(pieces[newest][:1000])
    fit_and_be_killed(config, tmp_path, progress.Progress, "finish_epoch", 1)
    assert f"{newest.name.split('.')[0]} cannot be restored" in caplog.text

    # All are broken, each in another way.
    kept = {path: path.read_bytes() for path in state.glob("ckpt-*")}
    for path in kept:
        path.write_bytes(b"" if path.suffix == ".index" else kept[path][:100])
    with pytest.raises(InputError, match=r"None of the checkpoints in .* can be read: delete"):
        fit.fit(config, tmp_path)
    for path, content in kept.items():
        path.write_bytes(content)
    fit.fit(config, tmp_path)
    assert_same_weights(whole, tmp_path)


def test_damaged_best_weights_are_a_message(corpus, tmp_path):
    config = tiny_config(corpus)
    fit_and_be_killed(config, tmp_path, fit, "load_weights", 1)
    best = tmp_path / "checkpoints" / "best.weights.npz"
    whole = best.read_bytes()
    for damaged in (whole[: len(whole) // 2], b""):
        best.write_bytes(damaged)
        with pytest.raises(InputError, match=r"best\.weights\.npz cannot be read: "):
            fit.fit(config, tmp_path)
    assert not (tmp_path / "model.keras").exists()


def test_killed_while_the_directory_was_made(corpus, tmp_path):
    config = tiny_config(corpus)
    run_dir = tmp_path / "run"
    for call in (1, 2):
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, os, "replace", call)
            with pytest.raises(Killed):
                RunDirectory(run_dir).claim(config)
        RunDirectory(run_dir).check(config)
    assert RunDirectory(run_dir).claim(config)
