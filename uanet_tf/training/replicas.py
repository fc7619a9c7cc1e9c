"""The replicas of ``--strategy``: several devices, or several machines, that share each batch."""

import contextlib
import functools
import os
from typing import Any

import tensorflow as tf
from absl import logging

from uanet_tf.data.batching import part_of_batch
from uanet_tf.errors import InputError
from uanet_tf.ops.graphs import graph_function
from uanet_tf.training.cluster import read_cluster


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
        """A dataset that gives each replica its part of every batch.

        Args:
          batches: of (features, labels), the same in each process.
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

    def agree(self, value: float = 0.0) -> float:
        """The chief's value, in every process; waits until all have asked.

        Args:
          value: of this process.
        """
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
    cluster = read_cluster(os.environ.get("TF_CONFIG", ""))
    count = sum(map(len, cluster.addresses.values()))
    logging.info("waiting until all %d processes of TF_CONFIG have started", count)
    return Replicas(_multi_worker(), is_chief=cluster.is_chief)


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
            "--strategy=multi_worker has to be chosen before TensorFlow has run anything in this "
            "process: train with uanet train, or call uanet_tf.train first."
        ) from error
