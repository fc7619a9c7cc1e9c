"""A training run in a process of its own."""

import pathlib
import subprocess
import sys
from collections.abc import Sequence

from uanet_tf.errors import InputError
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
    command = [sys.executable, "-m", "uanet_tf", "train", *arguments]
    sys.stderr.write(" ".join(command) + "\n")
    code = subprocess.run(command, check=False).returncode
    if code:
        raise InputError(f"Training of {said} failed with exit code {code}.")
