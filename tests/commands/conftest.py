"""A run directory without a real model, and commands called inside this process."""

import json

import pytest

import uanet_tf
from tests.tagging.fake_model import FakeModel
from uanet_tf.commands import runner
from uanet_tf.commands.tag_command import tag
from uanet_tf.config import Config


@pytest.fixture
def model(monkeypatch):
    """The model that commands load from any run directory."""
    fake = FakeModel()

    def load_model(run_dir, **options):
        for name, value in options.items():
            setattr(fake, name, value)
        return fake

    monkeypatch.setattr(uanet_tf, "load_model", load_model, raising=False)
    return fake


@pytest.fixture
def run_dir(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(Config().to_dict()))
    return folder


@pytest.fixture
def call():
    """Calls a command module with arguments; returns its exit code."""

    def call(command, *arguments):
        return runner.exit_code(command, ["program", *map(str, arguments)])

    return call


@pytest.fixture
def tag_text(tmp_path, run_dir, model, call):
    """Tags a text as a file and returns the output, the exit code taken for granted."""

    def tag_text(text, *arguments, name="in.conll", code=0):
        path, output = tmp_path / name, tmp_path / "output"
        path.write_text(text, encoding="utf-8")
        flags = [f"--run_dir={run_dir}", f"--input={path}", f"--output={output}", *arguments]
        assert call(tag, *flags) == code
        return output.read_text(encoding="utf-8")

    return tag_text
