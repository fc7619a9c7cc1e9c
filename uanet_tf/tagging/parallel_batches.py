"""Batches of one model on several threads."""

import collections
import concurrent.futures
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

# Each holds a batch in memory.
MOST_THREADS = 8
_GPU_THREADS = 4
_INTRA_OP, _INTER_OP = "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"

_END: Any = object()

T = TypeVar("T")
R = TypeVar("R")
_Call = tuple[Future, Callable[[], Any]]  # and where its result goes


def computes_on_gpu(model: Any) -> bool:
    """Whether a model's batches run on a GPU: those of TensorFlow do where it sees one."""
    if not model.thread_safe:
        return False
    from uanet_tf.ops.devices import has_gpu

    return has_gpu()


def threads_for(model: Any) -> int:
    """How many batches of a model run at once: TensorFlow's threads for independent operations.

    By default one per core; ``tf.config.threading.set_inter_op_parallelism_threads`` and the
    environment variable TF_NUM_INTEROP_THREADS change it. Four on a GPU, so that words of one
    batch are looked up while it computes another; one for a model that is not ``thread_safe``.
    """
    if not model.thread_safe:
        return 1
    if computes_on_gpu(model):
        return _GPU_THREADS
    import tensorflow as tf

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


class BatchThreads:
    """Calls on several threads, ``count`` at once, begun before their results are asked for.

    With one thread each is made when its result is asked for, on the thread that asks. A context
    manager: calls that have not begun when it is left are given up.
    """

    def __init__(self, count: int):
        self.count = count
        self._pool = concurrent.futures.ThreadPoolExecutor(count, "batch")
        self._waiting: collections.deque[_Call] = collections.deque()
        self._is_left = False

    def __enter__(self) -> "BatchThreads":
        return self

    def __exit__(self, *error: object) -> None:
        # Without waiting for calls that run, and without a lock, so not by the pool's `shutdown`:
        # the garbage collector, which ends a stream that nobody reads on, may do so on one of
        # these threads, or where a lock is held that they need. The pool ends with this object.
        self._is_left = True
        self._waiting.clear()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """As ``map``; of several calls the first begin at once, a single one when it is asked for.

        RuntimeError, when a result is asked for and the program ends.
        """
        items = list(items)
        if min(self.count, len(items)) <= 1:
            return map(function, items)
        calls: list[_Call] = [(Future(), functools.partial(function, item)) for item in items]
        self._waiting.extend(calls)
        for _ in range(self.count):
            self._begin_next()
        return _results(collections.deque(future for future, _ in calls))

    def _begin_next(self) -> None:
        """Gives the pool a call that waits.

        It is given one at the end of another, not all at once: a program that ends waits for
        those that the pool has, and takes no new ones.
        """
        try:
            future, call = self._waiting.popleft()
        except IndexError:
            return
        try:
            begun = self._pool.submit(self._call, call)
        except RuntimeError as error:
            future.set_exception(error)
            return
        begun.add_done_callback(functools.partial(_hand_over, future))

    def _call(self, call: Callable[[], Any]) -> Any:
        if self._is_left:
            return None
        try:
            return call()
        finally:
            self._begin_next()


def _hand_over(future: Future, ended: Future) -> None:
    """Gives to one what another has."""
    if error := ended.exception():
        future.set_exception(error)
    else:
        future.set_result(ended.result())


def _results(futures: collections.deque[Future]) -> Iterator[Any]:
    """The results; none is held here, else an error would hold the frame that holds it."""
    while futures:
        yield futures.popleft().result()


def one_ahead(items: Iterable[T]) -> Iterator[T]:
    """The items, each given when the next has been read; an error when its turn comes."""
    rest = iter(items)
    held = next(rest, _END)
    while held is not _END:
        try:
            following = next(rest, _END)
        except Exception:
            yield held
            raise
        yield held
        held = following


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
