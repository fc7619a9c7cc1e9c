"""A documented setting: a dataclass field with its help and its limits."""

import dataclasses
import difflib
import functools
import math
import numbers
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from uanet_tf.errors import InputError

# Far above any use: a typing error, or somebody else's configuration, must not exhaust the machine.
MAX_COUNT = 1_000_000
MAX_WIDTH = 65_536
MAX_LAYERS = 256
MAX_HEADS = 1_024

_MOST_SHOWN = 200  # characters of a value in a message
_MOST_BITS = 4_000
_ACCEPTED: dict[type, tuple[type, ...]] = {
    bool: (bool,),
    int: (numbers.Integral,),
    float: (numbers.Real,),
    str: (str,),
}
_NAMES = {bool: "True or False", int: "an integer", float: "a number", str: "a text"}


def option(
    default: Any,
    help: str,
    *,
    choices: Collection[str] | None = None,
    low: float | None = None,
    high: float | None = None,
    below: float | None = None,
    commands: tuple[str, ...] | None = None,
    optimizer: str | None = None,
    needs: Mapping[str, tuple[Any, ...]] | None = None,
    or_number: bool = False,
) -> Any:
    """A documented field: ``low <= value <= high`` and ``value < below`` where given.

    Args:
      default, help: value of the field; what it is, the help of its flag.
      choices: the values allowed; a view of a table has those that are added later too.
      commands: names of the commands that have it as a flag; None: all.
      optimizer: it is a setting of the optimizer of this name only, see ``Tagger.variable_groups``.
      needs: other settings, and the values with which this one is read; (): any that is not empty,
        0 or False.
      or_number: of a text: whether a whole number may be given in its place.
    """
    return dataclasses.field(
        default=default,
        metadata={
            "help": help,
            "choices": choices,
            "low": low,
            "high": high,
            "below": below,
            "commands": commands,
            "optimizer": optimizer,
            "needs": needs or {},
            "or_number": or_number,
        },
    )


rate = functools.partial(option, low=0.0, below=1.0)  # of dropout or decay
factor = functools.partial(option, low=0.0)  # or another number that is not negative
count = functools.partial(option, low=1, high=MAX_COUNT)
layers = functools.partial(option, low=1, high=MAX_LAYERS)
heads = functools.partial(option, low=1, high=MAX_HEADS)
width = functools.partial(option, low=1, high=MAX_WIDTH)  # of vectors, filters or layers


def has_flag(field: dataclasses.Field, command: str) -> bool:
    """Whether the field is a flag of the command."""
    commands = field.metadata["commands"]
    return commands is None or command in commands


def check_option(field: dataclasses.Field, value: Any, name: str) -> Any:
    """The value, which may be NumPy's or a path, as Python's own number, boolean or text.

    Args:
      field: made by ``option``; its value is of the type of its default.
      name: the field as the user knows it, ``--threshold`` or `` `threshold` ``.

    Raises:
      InputError: ``value`` is of another type, or outside the field's documented limits.
    """
    limits, shown = field.metadata, _short(value)
    if limits["or_number"] and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = str(int(value))
    value = _typed(type(field.default), value, name)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} must be a finite number. Received: {shown}")
    if limits["choices"] and value not in limits["choices"]:
        raise InputError(f"{name} must be one of {', '.join(limits['choices'])}. Received: {shown}")
    if limits["low"] is not None and not value >= limits["low"]:
        raise InputError(f"{name} must be at least {limits['low']}. Received: {shown}")
    if limits["high"] is not None and not value <= limits["high"]:
        raise InputError(f"{name} must be at most {limits['high']}. Received: {shown}")
    if limits["below"] is not None and not value < limits["below"]:
        raise InputError(f"{name} must be below {limits['below']}. Received: {shown}")
    return value


def near_names(name: str, names: Sequence[str]) -> list[str]:
    """Of names those with all the words of one that is none, else of like spelling; at most 3."""
    words = set(name.split("_"))
    with_all_words = [each for each in names if words <= set(each.split("_"))]
    return with_all_words[:3] or difflib.get_close_matches(name, names, 3)


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """The end of a message on a misspelt name; "" where none of ``names`` is close to it."""
    near = difflib.get_close_matches(name, names, 1, cutoff=0.75)
    return f": did you mean {near[0]}?" if near else ""


def _typed(kind: type, value: Any, name: str) -> Any:
    """The value as ``kind``, one of bool, int, float and str; InputError if it is no such value."""
    given = value
    if kind is str and isinstance(value, os.PathLike):
        value = os.fspath(value)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = value.item()  # without NumPy's import, which takes long
    if not isinstance(value, _ACCEPTED[kind]) or (kind is not bool and isinstance(value, bool)):
        raise InputError(f"{name} must be {_NAMES[kind]}. Received: {_short(repr(given))}")
    try:
        return kind(value)
    except OverflowError:  # an integer beyond all floats
        raise InputError(f"{name} must be a finite number. Received: {_short(value)}") from None


def _short(value: Any) -> str:
    """A value in a message, which stays one sentence."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:  # Python would not write it
        return f"an integer of {value.bit_length():,} bits"
    text = str(value)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
