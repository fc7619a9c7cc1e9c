"""Cuts a long sentence into overlapping windows; each token's labels come from one of them."""

import itertools
from typing import NamedTuple

CONTEXT = 64


class Window(NamedTuple):
    """One window of a sentence; all positions count tokens from the sentence's start.

    The model reads tokens ``start <= i < end``; its answers are kept for ``keep_start <= i <
    keep_end``. The kept ranges follow one another without gap or overlap.
    """

    start: int
    end: int
    keep_start: int
    keep_end: int


def split(length: int, size: int, context: int = CONTEXT) -> list[Window]:
    """Cuts a sentence of ``length`` tokens into windows of at most ``size`` tokens, in order.

    Each token is kept from the window in which it is farthest from a cut (the sentence's own two
    ends are no cuts); at equal distance from the earlier one. So it is read with at least
    ``context`` tokens on both sides, or up to the sentence's end. At most a quarter of ``size`` is
    used as context, so that windows advance by at least half their size. The last window is moved
    back to be as wide as the others.

    Raises:
      ValueError: an argument is out of range.
    """
    if length < 1 or size < 1 or context < 0:
        raise ValueError(
            "`length` and `size` must be at least 1 and `context` at least 0. "
            f"Received: length={length}, size={size}, context={context}"
        )
    if length <= size:
        return [Window(0, length, 0, length)]
    stride = size - 2 * min(context, size // 4)
    starts = [*range(0, length - size, stride), length - size]
    cuts = [_cut(left + size, right) for left, right in itertools.pairwise(starts)]
    return [
        Window(start, start + size, keep_start, keep_end)
        for start, keep_start, keep_end in zip(starts, [0, *cuts], [*cuts, length], strict=True)
    ]


def _cut(left_end: int, right_start: int) -> int:
    """The first token nearer to the end of the left window than to the right one's start."""
    return (left_end + right_start - 1) // 2 + 1
