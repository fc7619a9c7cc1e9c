"""Parameters of which `make test` takes a few, and `make test-all` all."""

from collections.abc import Iterable

import pytest


def quick_params(values: Iterable[str], quick: Iterable[str]) -> list:
    """The values; those that are not ``quick`` are marked ``process``."""
    values, quick = list(values), set(quick)
    assert quick <= set(values)
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.process) for value in values
    ]
