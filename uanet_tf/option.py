"""A documented setting: a dataclass field with its help and its limits."""

import dataclasses
from typing import Any

# Far above any use: a typing error, or somebody else's configuration, may not take the machine.
MAX_COUNT = 1_000_000
MAX_WIDTH = 65_536
MAX_LAYERS = 256
MAX_HEADS = 1_024


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


def count(default: int, help: str, low: int = 1, high: int = MAX_COUNT) -> Any:
    """A number of things, at least ``low``."""
    return option(default, help, low=low, high=high)


def width(default: int, help: str, low: int = 1) -> Any:
    """A width of vectors, filters or layers."""
    return option(default, help, low=low, high=MAX_WIDTH)


def layers(default: int, help: str) -> Any:
    """A number of layers."""
    return option(default, help, low=1, high=MAX_LAYERS)


def heads(default: int, help: str) -> Any:
    """A number of attention heads."""
    return option(default, help, low=1, high=MAX_HEADS)
