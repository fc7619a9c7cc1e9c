"""export.py from outside: what it writes, what it refuses, and kill -9."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tensorflow as tf
import tensorflow_text  # noqa: F401 - the operations of the text model

from tests.exporting.conftest import predict
from tests.exporting.test_saved_model import ask
from tests.models.model_contract import assert_same
from uanet_tf.commands import export_command, runner
from uanet_tf.exporting.sample_inputs import pad
from uanet_tf.serving.rest_api.loaded_model import read_gate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def call_all(run_dir, tmp_path, capsys):
    """Runs export.py in this process; returns (exit code, stdout, stderr)."""

    def call(*arguments, run_dir=run_dir):
        capsys.readouterr()  # absl notes that
        flags = [f"--run_dir={run_dir}", f"--export_dir={tmp_path / 'models'}"]
        argv = ["export.py", *flags, *arguments]
        code = runner.exit_code(export_command.export, argv)
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def call(call_all):
    """The same; returns (exit code, stderr)."""

    def call(*arguments, **options):
        code, _, err = call_all(*arguments, **options)
        return code, err

    return call


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("--run_dir=", "--run_dir is required"),
        ("--export_dir=", "--export_dir is required"),
        ("--run_dir=no/such", "no/such holds no model.keras: it is not a run directory"),
        ("--name=a/b", "--name must be letters, digits"),
        ("--name=x_text", "--name must not end in '_text'"),
        ("--version=0", "--version must be an integer from 1 on"),
        ("--version=two", "--version must be a whole number. Received: two"),
        ("--num_samples=-1", "-1"),
        ("--mc_seed=-1", "-1"),
        ("--threshold=-0.5", "--threshold must be at least 0.0. Received: -0.5"),
        ("--threshold=nan", "--threshold must be a finite number. Received: nan"),
        ("--sampling=none", "sampling"),
        ("--quantise", "Unknown command line flag 'quantise'"),
        ("here", "Arguments must be flags"),
    ],
)
def test_bad_arguments(call, tmp_path, argument, said):
    code, err = call(argument)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_existing_version_is_refused(call, tmp_path):
    path = tmp_path / "models" / "uanet_text" / "3"
    path.mkdir(parents=True)
    code, err = call("--version=3")
    assert code == 2
    assert err == (f"{path} exists already: name another --version, or none for the next free.\n")


def test_a_run_that_is_not_finished(call, run_dir, tmp_path):
    begun = tmp_path / "begun"
    begun.mkdir()
    shutil.copy(run_dir / "config.json", begun)
    code, err = call(run_dir=begun)
    assert (code, err) == (2, f"{begun} holds no model.keras: its training is not finished.\n")


def test_masks_that_are_new_at_each_call_are_refused(call, tmp_path):
    code, err = call("--mc_seed=-1")
    assert code == 2
    assert "--mc_seed=-1 draws new masks: name a seed of at least 0 with --mc_seed." in err


def test_the_export_dir_is_a_file(call, tmp_path):
    (tmp_path / "models").write_text("mine")
    code, err = call()
    assert (code, err.count("\n")) == (2, 1)
    assert f"{tmp_path / 'models'}" in err
    assert (tmp_path / "models").read_text() == "mine"


@pytest.mark.process
def test_settings_of_an_export(call, model, sentences, expected, tmp_path):
    code, err = call(
        "--num_samples=1", "--mc_seed=5", "--threshold=0.9", "--norefine_all", "--notext"
    )
    assert (code, err) == (0, "")
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["uanet"]
    loaded = tf.saved_model.load(str(tmp_path / "models" / "uanet" / "1"))
    assert read_gate(tmp_path / "models" / "uanet" / "1") == 0.9
    inputs, before = pad(sentences), expected
    settings = {"num_samples": 1, "mc_seed": 5, "threshold": 0.9, "refine_all": False}
    own = {name: getattr(model, name) for name in settings}
    try:
        for name, value in settings.items():
            setattr(model, name, value)
        changed = predict(model, inputs)
    finally:
        for name, value in own.items():
            setattr(model, name, value)
    assert_same(ask(loaded, "serving_default", **inputs), changed)
    assert (changed["uncertainty"] != before["uncertainty"]).any()
    assert (changed["refined"] != before["refined"]).any()
    assert (changed["refined_labels"] != before["refined_labels"]).any()


def start(run_dir, export_dir):
    return subprocess.Popen(
        [sys.executable, "export.py", f"--run_dir={run_dir}", f"--export_dir={export_dir}"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def versions(export_dir):
    return sorted(str(path.relative_to(export_dir)) for path in export_dir.glob("*/[0-9]*"))


@pytest.mark.process
def test_killed_and_done_again(call_all, run_dir, tmp_path):
    """kill -9 while a model is being checked; the next export clears up and writes version 1."""
    models = tmp_path / "models"
    part = models / "uanet" / ".part-1"
    with start(run_dir, models) as process:
        while not (part / "saved_model.pb").exists():
            assert process.poll() is None
            time.sleep(0.02)
        assert versions(models) == []
        os.kill(process.pid, signal.SIGKILL)
    assert part.exists()
    assert versions(models) == []
    code, out, err = call_all()
    assert (code, err) == (0, "")
    assert versions(models) == ["uanet/1", "uanet_text/1"]
    assert [line.split(":")[0] for line in out.splitlines()] == [
        str(models / name) for name in versions(models)
    ]
    assert not list(models.glob("*/.*"))
    model, text = (tf.saved_model.load(str(models / name)) for name in versions(models))
    answers = ask(text, "serving_default", text=["Oslo met Ann"])
    of_tokens = ask(model, "serving_default", tokens=[["Oslo", "met", "Ann"]], lengths=[3])
    assert_same({name: answers[name] for name in of_tokens}, of_tokens)
