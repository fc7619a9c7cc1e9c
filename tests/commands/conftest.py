"""A run directory without a real model, and commands called inside this process."""

import json

import pytest

import uanet_tf
from tests.tagging.fake_model import FakeModel
from uanet_tf.commands import runner
from uanet_tf.config import Config


@pytest.fixture
def model(monkeypatch):
    """The model that commands load from any run directory."""
    fake = FakeModel()

    def load_model(run_dir, *, mixed_bfloat16=None, **options):
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

    def call(module, *arguments):
        module.FLAGS.unparse_flags()
        return runner.exit_code(module.main, module.FLAGS, ["program", *map(str, arguments)])

    return call
