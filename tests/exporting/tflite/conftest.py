"""A TensorFlow Lite file, what reads it, and commands on it."""

import pytest

import uanet_lite
import uanet_tf
from uanet_tf.commands import runner
from uanet_tf.exporting.tflite.conversion import FLOAT32


@pytest.fixture(scope="session")
def path(tflite_files):
    """The float32 file of the trained run."""
    return tflite_files[FLOAT32].path


@pytest.fixture(scope="session")
def model(trained_run):
    """The model that the file was made from; no test changes it."""
    return uanet_tf.load_model(trained_run)


@pytest.fixture(scope="session")
def lite_tagger(path):
    return uanet_lite.Tagger(path)


@pytest.fixture
def call(capsys):
    """Runs a command in this process; returns exit code, stdout and stderr."""

    def call(command, *arguments):
        code = runner.exit_code(command, ["program", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call
