"""A run directory without a real model, and commands called inside this process."""

import json

import pytest
from absl import flags

import uanet_tf
from tests.tagging.fake_model import FakeModel
from uanet_tf.commands import runner, tag
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


@pytest.fixture
def tag_text(tmp_path, run_dir, model, call):
    """Tags a text as a file and returns the output, exit code 0 taken for granted."""

    def tag_text(text, *arguments, name="in.conll"):
        path, output = tmp_path / name, tmp_path / "output"
        path.write_text(text, encoding="utf-8")
        code = call(
            tag, f"--run_dir={run_dir}", f"--input={path}", f"--output={output}", *arguments
        )
        assert code == 0
        return output.read_text(encoding="utf-8")

    return tag_text


@pytest.fixture
def values():
    """Flags of a small program."""
    values = flags.FlagValues()
    flags.DEFINE_integer("count", 1, "How many.", lower_bound=1, flag_values=values)
    flags.DEFINE_float("rate", 0.5, "How much.", flag_values=values)
    flags.DEFINE_string("name", None, "Who.", flag_values=values)
    flags.DEFINE_boolean("deep", False, "Whether deep.", flag_values=values)
    return values
