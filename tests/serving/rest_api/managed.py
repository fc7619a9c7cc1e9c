"""A model manager over a folder of versions that are quick to load."""

import pathlib
import time

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.serving.rest_api.model_manager import ModelManager
from uanet_tf.serving.rest_api.rest_error import RestError


class Fault(Exception):
    """A kind of error that nobody foresaw."""


class FakeModel:
    """Remembers where it came from."""

    def __init__(self, path):
        self.path = path


class Loader:
    """Makes fake models; fails for a directory that holds a file named broken."""

    def __init__(self):
        self.loaded = []

    def __call__(self, path, name):
        assert name == "m"
        self.loaded.append(path)
        files = {file.name for file in pathlib.Path(path).iterdir()}
        if "broken" in files:
            raise InputError(f"{path}: is broken.")
        return FakeModel(path)


def make(base, loader, **settings):
    return ModelManager([ModelSettings("m", str(base), **settings)], loader, poll_seconds=0)


def add(base, *names):
    for name in names:
        (base / str(name)).mkdir()


def served(manager, **which):
    return manager.find("m", **which)


def states(manager):
    try:
        return {version: state.state for version, state in manager.states("m")}
    except RestError:  # none yet
        return {}


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
