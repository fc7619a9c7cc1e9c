"""Batches of one model on several threads."""

import concurrent.futures
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

# Each holds a batch in memory.
MOST_THREADS = 8
_INTRA_OP, _INTER_OP = "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"

T = TypeVar("T")
R = TypeVar("R")


def threads_for(model: Any) -> int:
    """How many batches of a model run at once: TensorFlow's threads for independent operations.

    By default one per core; ``tf.config.threading.set_inter_op_parallelism_threads`` and the
    environment variable TF_NUM_INTEROP_THREADS change it. One on a GPU, which has one queue, and
    for a model that is not ``thread_safe``.
    """
    if not model.thread_safe:
        return 1
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        return 1
    threads = tf.config.threading.get_inter_op_parallelism_threads()
    given = os.environ.get(_INTER_OP, "")
    if not threads and given.isdecimal():  # TensorFlow passes over what is no number, too
        threads = int(given)
    return min(threads or _cores(), MOST_THREADS)


def run_each_on_one_thread() -> None:
    """For a process that only tags: no batch is shared out among threads.

    The operations of a batch are small: sharing each of them out costs more than it gains, where
    other batches can keep the other cores busy. Does nothing where TensorFlow runs already, or
    where TF_NUM_INTRAOP_THREADS is set.
    """
    import tensorflow as tf

    if _INTRA_OP in os.environ:
        return
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
    except RuntimeError:  # it runs already, with threads of its own
        return


def ordered_map(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """As ``map``, with ``threads`` calls at once. After an error no further call begins."""
    items = list(items)
    if min(threads, len(items)) <= 1:
        yield from map(function, items)
        return
    with concurrent.futures.ThreadPoolExecutor(threads, "batch") as pool:
        yield from pool.map(function, items)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
