"""A training run in a process of its own."""

import pathlib
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

from uanet_tf.errors import InputError, StoppedBySignal
from uanet_tf.evaluation.comparison import complete_metrics


def train_run(run_dir: pathlib.Path, arguments: Sequence[str], said: str) -> None:
    """Trains a run, unless it is complete; one that was stopped continues.

    Args:
      run_dir: of the run.
      arguments: flags of ``train``, --run_dir included.
      said: what is trained, for the message of an error.

    Raises:
      InputError: training failed; it has said why.
    """
    if complete_metrics(run_dir) is not None:
        return
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "uanet_tf.commands.uanet", "train", *arguments]
    sys.stderr.write(" ".join(command) + "\n")
    code = exit_code_of(command)
    if code:
        raise InputError(f"Training of {said} failed with exit code {code}.")


def exit_code_of(command: Sequence[str]) -> int:
    """The exit code of a command, which is told to end where this process is."""
    with subprocess.Popen(command) as process:
        if threading.current_thread() is not threading.main_thread():
            return process.wait()
        before = signal.getsignal(signal.SIGTERM)
        stopped = []

        def stop(*_: object) -> None:
            stopped.append(True)
            process.terminate()

        signal.signal(signal.SIGTERM, stop)
        try:
            code = process.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    if stopped:
        raise StoppedBySignal(signal.SIGTERM)
    return code
