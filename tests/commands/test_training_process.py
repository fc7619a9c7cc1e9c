"""A training in a process of its own ends where the command that began it does."""

import os
import signal
import subprocess
import sys
import time

import pytest

CHILD = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
PARENT = (
    "import sys\n"
    "from uanet_tf.commands import runner, training_runs\n"
    "command = [sys.executable, '-c', sys.argv[1], sys.argv[2]]\n"
    "sys.exit(runner.code_of(lambda: training_runs.exit_code_of(command)))\n"
)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def is_there(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.process
def test_it_is_stopped_too(tmp_path):
    path = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, CHILD, str(path)])
    child = int(wait_for(lambda: path.exists() and path.read_text()))
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(60) == 128 + signal.SIGTERM
    wait_for(lambda: not is_there(child))


@pytest.mark.process
def test_its_exit_code(tmp_path):
    code = "import sys; sys.exit(3)"
    done = subprocess.run([sys.executable, "-c", PARENT, code, str(tmp_path)], check=False)
    assert done.returncode == 3
