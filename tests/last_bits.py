"""Scores to the last bit, where the processor gives them; elsewhere to five digits.

Filled batches give them in registers of 512 bits. In narrower ones the rows of a product come in
sixes, and the last bits of attention depend on the number of queries.
"""

import json
import math
from pathlib import Path

_TOLERANCE = 1e-5


def are_given() -> bool:
    """Whether it is a processor of which that is known."""
    try:
        return "avx512_vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False


def assert_same(found: object, expected: object) -> None:
    """Compares answers; without last bits, numbers that are no integers to five digits."""
    assert found == expected if are_given() else _is_same(found, expected)


def assert_same_lines(found: str, expected: str) -> None:
    """Compares texts of JSON lines, byte by byte where last bits are given."""
    if are_given():
        assert found == expected
    assert_same(*([json.loads(line) for line in text.splitlines()] for text in (found, expected)))


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.0, abs_tol=_TOLERANCE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(map(_is_same, one.values(), other.values()))
    return one == other
