"""Input that may pause: what has arrived is processed together, without waiting for more."""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar, cast

from uanet_tf.errors import InputError

SECONDS = 0.05
T = TypeVar("T")
_END = object()


def bursts(items: Iterator[T], most: int, seconds: float = SECONDS) -> Iterator[list[T]]:
    """Lists of the items that come without a pause.

    A thread reads, as far ahead as two lists; an error of the items is raised after those that
    came before it.

    Args:
      items: a stream that may pause.
      most: maximum number of items in a list.
      seconds: how long to wait for a further item, once there is one.
    """
    arrived: queue.Queue[object] = queue.Queue(2 * most)
    outcome: list[InputError | None] = []

    def read() -> None:
        try:
            for item in items:
                arrived.put(item)
            outcome.append(None)
        except InputError as error:
            outcome.append(error)
        finally:
            arrived.put(_END)

    threading.Thread(target=read, daemon=True, name="input").start()
    ended = False
    while not ended:
        item = arrived.get()
        burst: list[T] = []
        while item is not _END:
            burst.append(cast(T, item))
            if len(burst) == most:
                break
            try:
                item = arrived.get(timeout=seconds)
            except queue.Empty:
                break
        else:
            ended = True
        if burst:
            yield burst
    if not outcome:
        raise RuntimeError("reading the input failed, see above")
    if outcome[0] is not None:
        raise outcome[0]
