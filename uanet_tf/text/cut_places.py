"""Cutting tokens, given by their characters, where something begins or ends inside them."""

import bisect
from collections.abc import Iterable

Place = tuple[int, int]  # first character, the one after the last


def cut_at(places: Iterable[Place], edges: Iterable[int]) -> list[Place]:
    """The places, each in as many pieces as it has edges inside, and one more.

    Args:
      places: of tokens.
      edges: characters that a piece begins at; those between tokens change nothing.
    """
    order = sorted(set(edges))
    pieces = []
    for start, end in places:
        inside = order[bisect.bisect_right(order, start) : bisect.bisect_left(order, end)]
        pieces += list(zip([start, *inside], [*inside, end], strict=True))
    return pieces
