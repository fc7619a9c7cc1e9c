"""Several processes that train one model: whether they do the same, and the loss of one."""

import contextlib
import hashlib
import json
import pathlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import tensorflow as tf

from uanet_tf.config import Config
from uanet_tf.errors import InputError
from uanet_tf.training.progress import Progress
from uanet_tf.training.replicas import Replicas
from uanet_tf.training.run_directory import RunDirectory

# What TensorFlow raises in a process whose partner in a collective operation is gone.
_GONE = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.FailedPreconditionError,
    tf.errors.InternalError,
)


Value = TypeVar("Value")
# A file that the chief wrote may be seen that much later on another machine (NFS).
_SECONDS = 90


@contextlib.contextmanager
def reported_loss_of_workers(replicas: Replicas) -> Iterator[None]:
    """Within this context the loss of another process is an InputError that says what to do."""
    try:
        yield
    except _GONE as error:
        if replicas.count == 1:
            raise
        raise InputError(
            "Another worker of --strategy=multi_worker has ended or cannot be reached: start all "
            "of them again with the same command, and the run continues from its last saved state."
        ) from error


def check_possible(replicas: Replicas, config: Config) -> None:
    """Raises InputError where a run cannot be shared among replicas."""
    if replicas.count > 1 and config.decoder.refiner_context == "document":
        raise InputError(
            f"--strategy={config.training.strategy} does not go with --refiner_context=document, "
            "whose memory of drafts is that of one process."
        )


def check_alike(replicas: Replicas, config: Config, hashes: Mapping[str, str]) -> None:
    """Raises InputError unless this process has the chief's settings and data.

    Args:
      replicas: of the run.
      config: of this process; names of files may differ.
      hashes: {flag that names a file: hash of what was read of it}.
    """
    settings = {
        group: {name: value for name, value in part.items() if not name.endswith("_path")}
        for group, part in config.to_dict().items()
    }
    text = json.dumps([settings, dict(hashes)], sort_keys=True)
    # As many bits as a float64 holds.
    mine = float(int(hashlib.sha256(text.encode()).hexdigest()[:12], 16))
    if replicas.agree(mine) != mine:
        raise InputError(
            "This worker was started with other settings or data than the chief: give all workers "
            "the same flags and files."
        )


def check_same_state(replicas: Replicas, progress: Progress, run: RunDirectory) -> None:
    """Raises InputError unless this process continues from where the chief does.

    Args:
      replicas: of the run.
      progress: of this process.
      run: its directory, of which the chief has made a run.
    """
    if replicas.count > 1 and not replicas.is_chief:
        _seen(run.config.exists, run.config)
    for mine, name in ((progress.epoch, "epoch"), (progress.step, "step")):
        chiefs = int(replicas.agree(float(mine)))
        if chiefs != mine:
            raise InputError(
                f"--run_dir={run.path} of this worker ends in {name} {mine}, that of the chief in "
                f"{name} {chiefs}: all workers must see the same directory."
            )


def chiefs_metrics(run: RunDirectory) -> dict[str, Any]:
    """The metrics of the complete run, which the chief has written into its directory.

    Raises:
      InputError: this worker sees none.
    """
    return _seen(run.finished_metrics, run.metrics)


def _seen(look: Callable[[], Value | None], written: pathlib.Path) -> Value:
    """What ``look`` finds of a file that the chief has written, as soon as it does."""
    end = time.monotonic() + _SECONDS
    while not (found := look()):
        if time.monotonic() > end:
            raise InputError(
                f"--run_dir={written.parent} of this worker lacks the {written.name} that the "
                "chief has written: all workers must see the same directory."
            )
        time.sleep(0.5)
    return found
