"""Checks of what users' functions are given, each with one sentence."""

import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any

from uanet_lite.input_error import InputError

MAX_GAMMA = 3.4028235e38  # the largest finite float32, which Gamma is in the graph
# What ``tag`` takes, everywhere.
SENTENCES = "a text, or a list of texts and lists of words"


def check_list(sentences: Any, wanted: str = SENTENCES) -> None:
    """Raises InputError for what is no list: without an order, or not of Python's strings."""
    if hasattr(sentences, "dtype") and not hasattr(sentences, "tolist"):
        raise InputError(
            f"sentences must be {wanted}, not a tensor, whose strings are bytes. "
            f"Received: {sentences!r:.60}"
        )
    if hasattr(sentences, "columns") and hasattr(sentences, "ndim"):  # of pandas: gives their names
        received = f"a {type(sentences).__name__}"
        raise InputError(
            f"sentences must be {wanted}: of a table, one column. Received: {received}"
        )
    if isinstance(sentences, Mapping | set | frozenset) or not isinstance(sentences, Iterable):
        raise InputError(f"sentences must be {wanted}. Received: {sentences!r:.60}")


def check_stream(sentences: Any) -> None:
    """Raises InputError for what is no list of texts and lists of words."""
    wanted = "a list of texts and lists of words"
    if isinstance(sentences, str | bytes):
        received = f"one {type(sentences).__name__}, {sentences[:40]!r}"
        raise InputError(f"sentences must be {wanted}. Received: {received}")
    check_list(sentences, wanted)


def check_count(name: str, value: Any) -> None:
    """Raises InputError for what is no integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"`{name}` must be an integer. Received: {value!r:.60}")
    if value < 1:
        raise InputError(f"`{name}` must be at least 1. Received: {value}")


def check_path(name: str, value: Any, wanted: str = "a path") -> str:
    """The path given; raises InputError for what is none."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"`{name}` must be {wanted}. Received: {value!r:.60}")
    return os.fspath(value)


def check_language(language: Any) -> None:
    """Raises InputError for what is no code of a language."""
    if not isinstance(language, str):
        raise InputError(f'`language` must be a code such as "en". Received: {language!r:.60}')
