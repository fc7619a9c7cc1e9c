"""A documented setting: a dataclass field with its help and its limits."""

import dataclasses
from typing import Any


def option(
    default: Any,
    help: str,
    *,
    choices: tuple[str, ...] | None = None,
    low: float | None = None,
    high: float | None = None,
    below: float | None = None,
) -> Any:
    """A documented field: ``low <= value <= high`` and ``value < below`` where given."""
    return dataclasses.field(
        default=default,
        metadata={"help": help, "choices": choices, "low": low, "high": high, "below": below},
    )


def rate(default: float, help: str) -> Any:
    """A rate of dropout or decay, at least 0 and below 1."""
    return option(default, help, low=0.0, below=1.0)


def count(default: int, help: str, low: int = 1) -> Any:
    """A number of things, at least ``low``."""
    return option(default, help, low=low)
