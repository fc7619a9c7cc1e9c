"""Stops in place of ``kill -9``, inside this process."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from uanet_tf.config import Config
from uanet_tf.training import fit


class Killed(BaseException):
    """Nothing is written after it."""


def kill_at(patch: pytest.MonkeyPatch, owner: Any, name: str, call: int, *, after: bool = False):
    """The ``call``-th call of a function kills, before or ``after`` the function does its work."""
    original: Callable = getattr(owner, name)
    count = iter(range(1, 1_000_000))

    @functools.wraps(original)
    def killing(*args, **kwargs):
        last = next(count) == call
        result = None if last and not after else original(*args, **kwargs)
        if last:
            raise Killed
        return result

    patch.setattr(owner, name, killing)


def fit_and_be_killed(
    config: Config, run_dir: Path, owner: Any, name: str, call: int, *, after: bool = False
) -> None:
    """Trains until ``kill_at``."""
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, owner, name, call, after=after)
        with pytest.raises(Killed):
            fit.fit(config, run_dir)
