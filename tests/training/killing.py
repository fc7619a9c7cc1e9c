"""Stops in place of ``kill -9``, inside this process; copies of a run as a kill would leave it."""

import functools
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from uanet_tf.config import Config
from uanet_tf.training import fit


class Killed(BaseException):
    """Nothing is written after it."""


class Moment(NamedTuple):
    """The ``call``-th call of a function, before or ``after`` the function does its work."""

    owner: Any
    name: str
    call: int
    after: bool = False


def act_at(patch: pytest.MonkeyPatch, moment: Moment, act: Callable[[], None]) -> None:
    """Does something at a moment."""
    original: Callable = getattr(moment.owner, moment.name)
    count = iter(range(1, 1_000_000))

    @functools.wraps(original)
    def acting(*args, **kwargs):
        now = next(count) == moment.call
        if now and not moment.after:
            act()
        result = original(*args, **kwargs)
        if now and moment.after:
            act()
        return result

    patch.setattr(moment.owner, moment.name, acting)


def kill_at(patch: pytest.MonkeyPatch, owner: Any, name: str, call: int, *, after: bool = False):
    """The ``call``-th call of a function kills."""

    def kill():
        raise Killed

    act_at(patch, Moment(owner, name, call, after), kill)


def fit_with_copies(config: Config, run_dir: Path, copies: Mapping[Path, Moment]) -> None:
    """Trains, and at each moment copies the run: what a kill would leave of it."""
    with pytest.MonkeyPatch.context() as patch:
        for copy, moment in copies.items():
            act_at(patch, moment, functools.partial(shutil.copytree, run_dir, copy))
        fit.fit(config, run_dir)
    assert all(copy.exists() for copy in copies)


def fit_and_be_killed(
    config: Config, run_dir: Path, owner: Any, name: str, call: int, *, after: bool = False
) -> None:
    """Trains until ``kill_at``."""
    with pytest.MonkeyPatch.context() as patch:
        kill_at(patch, owner, name, call, after=after)
        with pytest.raises(Killed):
            fit.fit(config, run_dir)
