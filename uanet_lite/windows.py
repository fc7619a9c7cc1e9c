"""Cutting a long sentence into overlapping windows: the rule of ``uanet_tf.tagging.windows``."""

import itertools
from typing import NamedTuple

CONTEXT = 64


class Window(NamedTuple):
    """Tokens ``start <= i < end`` are read, the answers for ``keep_start <= i < keep_end`` kept."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def split(length: int, size: int) -> list[Window]:
    """Cuts a sentence of ``length`` tokens into windows of at most ``size`` tokens.

    Each token is kept from the window in which it is farthest from a cut; at equal distance
    from the earlier one. A sentence that fits is one window.
    """
    if length <= size:
        return [Window(0, length, 0, length)]
    stride = size - 2 * min(CONTEXT, size // 4)
    starts = [*range(0, length - size, stride), length - size]
    cuts = [(left + size + right - 1) // 2 + 1 for left, right in itertools.pairwise(starts)]
    return [
        Window(start, start + size, keep_start, keep_end)
        for start, keep_start, keep_end in zip(starts, [0, *cuts], [*cuts, length], strict=True)
    ]
