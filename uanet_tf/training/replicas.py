"""The replicas of --strategy: several devices, or several machines, that share each batch."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import tensorflow as tf
from absl import logging

from uanet_tf.config import Config
from uanet_tf.data.batching import part_of_batch
from uanet_tf.errors import InputError
from uanet_tf.ops.graphs import graph_function
from uanet_tf.training.run_directory import RunDirectory
from uanet_tf.training.saved_state import Progress

_CHIEF, _WORKER = "chief", "worker"
_ADDRESS = re.compile(r".+:[0-9]+")
_EXAMPLE = (
    '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
)


def read_cluster(text: str) -> tuple[int, bool]:
    """Reads TF_CONFIG: how many processes there are, and whether this one scores and writes files.

    That is the chief, or without one the first worker. Raises InputError if the text is missing, or
    not what TensorFlow documents.
    """
    if not text:
        raise InputError(
            "`strategy=multi_worker` needs the environment variable TF_CONFIG, which names all "
            f"workers and which of them this one is, such as {_EXAMPLE}."
        )
    try:
        value = json.loads(text)
        cluster, task = value["cluster"], (value["task"]["type"], int(value["task"]["index"]))
        processes = [(kind, number) for kind in cluster for number in range(len(cluster[kind]))]
        wrong = [each for part in cluster.values() for each in part if not _ADDRESS.fullmatch(each)]
        if wrong or set(cluster) - {_CHIEF, _WORKER} or len(cluster.get(_CHIEF, [])) > 1:
            raise ValueError("a cluster has workers and one chief at most, each as host:port")
        if task not in processes:
            raise ValueError("its task is not in its cluster")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"TF_CONFIG is not of the form {_EXAMPLE} ({_reason(error)}). Received: {text:.200}"
        ) from error
    return len(processes), task == (_CHIEF if _CHIEF in cluster else _WORKER, 0)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON"
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error)


class Replicas:
    """Replicas that train one model: each computes the gradients of a part of every batch.

    Args:
      strategy: of tf.distribute; None: this process on its own, without one.
      is_chief: whether this process is the one that scores and writes files.

    Attributes:
      count: replicas in all processes.
    """

    def __init__(self, strategy: tf.distribute.Strategy | None = None, *, is_chief: bool = True):
        self.count = 1 if strategy is None else strategy.num_replicas_in_sync
        self.is_chief = is_chief
        # A single replica needs none of its machinery.
        self._strategy = strategy if self.count > 1 else None
        if self._strategy is not None:
            self._total = graph_function([tf.TensorSpec([], tf.float64)])(self._sum)

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """The context in which variables are made that all replicas have."""
        return contextlib.nullcontext() if self._strategy is None else self._strategy.scope()

    def share(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        """A dataset that gives each replica its part of every batch (features, labels).

        The batches are the same in each process.
        """
        if self._strategy is None:
            return batches

        def of_process(context: tf.distribute.InputContext) -> tf.data.Dataset:
            local = self.count // context.num_input_pipelines
            first = local * context.input_pipeline_id

            def parts(features, labels):
                numbers = tf.data.Dataset.range(first, first + local)
                return numbers.map(lambda n: part_of_batch(features, labels, n, self.count))

            return batches.flat_map(parts).prefetch(2 * local)

        return self._strategy.distribute_datasets_from_function(of_process)

    def graph_of(self, step: Callable[..., Any], batches: tf.data.Dataset) -> Callable[..., Any]:
        """The graph of a step of (features, labels); each replica takes its part of a batch.

        It is a function of an element of ``batches``, which ``share`` gave; it gives what ``step``
        gives one replica.
        """

        def of_all(*batch: Any) -> Any:
            if self._strategy is None:
                return step(*batch)
            results = self._strategy.run(step, args=batch)
            return self._strategy.experimental_local_results(results)[0]

        return graph_function(list(batches.element_spec))(of_all)

    def agree(self, value: float = 0.0) -> float:
        """The chief's value, in every process; waits until all have asked."""
        if self._strategy is None:
            return value
        local = len(self._strategy.extended.worker_devices)
        mine = value / local if self.is_chief else 0.0
        return float(self._total(tf.constant(mine, tf.float64)))

    def _sum(self, part: tf.Tensor) -> tf.Tensor:
        """The sum over all replicas of what their processes give."""
        strategy: Any = self._strategy
        parts = strategy.run(tf.identity, args=(part,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, parts, axis=None)


def make_replicas(strategy: str) -> Replicas:
    """The replicas that ``--strategy`` names.

    For several machines this has to come before TensorFlow has run anything.

    Args:
      strategy: "none", "mirrored" (the devices of this machine: its GPUs, or the logical CPU
        devices) or "multi_worker" (the processes that TF_CONFIG names).

    Raises:
      InputError: TF_CONFIG is missing or wrong, or comes too late.
    """
    if strategy == "none":
        return Replicas()
    # Of each collective operation that is made, it tells how many tensors it sums.
    tf.get_logger().setLevel("WARNING")
    if strategy == "mirrored":
        devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
        return Replicas(_mirrored(tuple(device.name for device in devices)))
    count, is_chief = read_cluster(os.environ.get("TF_CONFIG", ""))
    logging.info("waiting until all %d processes of TF_CONFIG have started", count)
    return Replicas(_multi_worker(), is_chief=is_chief)


# One of each for the process: those of a second one would mistake its sums for the first one's.
@functools.cache
def _mirrored(devices: tuple[str, ...]) -> tf.distribute.Strategy | None:
    return tf.distribute.MirroredStrategy(devices) if len(devices) > 1 else None


@functools.cache
def _multi_worker() -> tf.distribute.Strategy:
    try:
        return tf.distribute.MultiWorkerMirroredStrategy()
    except RuntimeError as error:
        raise InputError(
            "`strategy=multi_worker` has to be chosen before TensorFlow has run anything in this "
            "process: train with uanet train, or call uanet_tf.train first."
        ) from error


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
            "Another worker of `strategy=multi_worker` has ended or cannot be reached: start all "
            "of them again with the same command, and the run continues from its last saved state."
        ) from error


def check_possible(replicas: Replicas, config: Config) -> None:
    """Raises InputError where a run cannot be shared among replicas."""
    if replicas.count == 1:
        return
    refusal = f"`strategy={config.training.strategy}` does not go with"
    if config.decoder.refiner_context == "document":
        raise InputError(
            f"{refusal} `refiner_context=document`, whose memory of drafts is that of one process."
        )
    if config.training.init:
        raise InputError(f"{refusal} `init`: train in one process.")


def check_alike(replicas: Replicas, config: Config, hashes: Mapping[str, str]) -> None:
    """Raises InputError unless this process has the chief's settings and data.

    Names of files may differ; ``hashes`` are {flag that names a file: hash of what was read of it}.
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
    """Raises InputError unless this process continues from where the chief does, in its run."""
    if replicas.count > 1 and not replicas.is_chief:
        _seen(run.config.exists, run.config)
    for mine, name in ((progress.epoch, "epoch"), (progress.step, "step")):
        chiefs = int(replicas.agree(float(mine)))
        if chiefs != mine:
            raise InputError(
                f"`run_dir={run.path}` of this worker ends in {name} {mine}, that of the chief in "
                f"{name} {chiefs}: all workers must see the same directory."
            )


def chiefs_metrics(run: RunDirectory) -> dict[str, Any]:
    """The metrics of the complete run, which the chief has written; InputError if none are seen."""
    return _seen(run.finished_metrics, run.metrics)


def _seen(look: Callable[[], Value | None], written: pathlib.Path) -> Value:
    """What ``look`` finds of a file that the chief has written, as soon as it does."""
    end = time.monotonic() + _SECONDS
    while not (found := look()):
        if time.monotonic() > end:
            raise InputError(
                f"`run_dir={written.parent}` of this worker lacks the {written.name} that the "
                "chief has written: all workers must see the same directory."
            )
        time.sleep(0.5)
    return found
