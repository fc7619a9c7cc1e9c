"""Commands on TensorFlow Lite files."""

import pytest

from uanet_tf.commands import runner


@pytest.fixture
def call(capsys):
    """Runs a command in this process; returns exit code, stdout and stderr."""

    def call(module, *arguments):
        module.FLAGS.unparse_flags()
        code = runner.exit_code(module.main, module.FLAGS, ["program", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call
