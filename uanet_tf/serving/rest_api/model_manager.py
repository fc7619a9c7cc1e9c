"""Keeps the served versions loaded, and gives them to requests."""

import gc
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from absl import logging

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.model_config import (
    Fingerprint,
    ModelSettings,
    fingerprint,
    latest_version,
)
from uanet_tf.serving.rest_api.rest_error import bad_request, not_found
from uanet_tf.serving.rest_api.served_model import ServedModel

LOADING, AVAILABLE, END = "LOADING", "AVAILABLE", "END"


class VersionState(NamedTuple):
    """State of a version."""

    state: str  # LOADING, AVAILABLE or END
    error: str = ""  # why it could not be loaded, "" if it could
    code: str = "OK"  # TensorFlow's name of that kind of error


class ModelManager:
    """The models of a server.

    A version that is no longer wanted serves until a wanted one is ready; requests that began
    with it end with it. If one cannot be loaded, its state says so, and it is tried again when its
    files change.

    Args:
      load: makes a model of a version's directory and the name of the model.
      poll_seconds: time between two checks of the directories; 0: only one check.
    """

    def __init__(
        self,
        models: Sequence[ModelSettings],
        load: Callable[[str, str], ServedModel],
        *,
        poll_seconds: float = 1.0,
    ) -> None:
        self._settings = {settings.name: settings for settings in models}
        self._load = load
        self._poll_seconds = poll_seconds
        self._served: dict[str, tuple[int, ServedModel]] = {}
        # The inner ones are replaced, never changed: requests read them meanwhile.
        self._states: dict[str, dict[int, VersionState]] = {name: {} for name in self._settings}
        self._failed: dict[tuple[str, int], Fingerprint] = {}
        self._faults: dict[str, str] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        # Models are loaded in a thread of their own: any error becomes the result of a task, and
        # cannot end the thread that polls.
        self._worker = ThreadPoolExecutor(1, "load")

    def find(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> tuple[int, ServedModel]:
        """The version that a request means, and its model.

        RestError: 400, unknown label; 404, no such model, or version not loaded.
        """
        if label is not None:
            raise bad_request(f"Unrecognized servable version label: {label}")  # there are none
        served = self._served.get(name)
        if served is None or version not in (None, served[0]):
            wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
            raise not_found(f"Servable not found for request: {wanted}")
        return served

    def states(self, name: str, version: int | None = None) -> list[tuple[int, VersionState]]:
        """States of a model's versions, or of one, newest first. RestError: 404, there is none."""
        states = self._states.get(name, {})
        if version is not None:
            states = {number: states[number] for number in states if number == version}
        if not states:
            wanted = "any versions" if version is None else f"version {version}"
            raise not_found(f"Could not find {wanted} of model {name}")
        return sorted(states.items(), reverse=True)

    def names(self) -> list[str]:
        """Names of the models, in the order in which they were given."""
        return list(self._settings)

    def start(self) -> None:
        """Loads what there is now, then polls in the background."""
        self.poll()
        if self._poll_seconds > 0:
            self._thread = threading.Thread(target=self._poll_often, name="models", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stops polling, after the load that may be going on."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._worker.shutdown()

    def poll(self) -> None:
        """Checks the directories once, loads what is new and unloads what is no longer wanted."""
        for name, settings in self._settings.items():
            fault = ""
            try:
                if latest := latest_version(settings):
                    self._serve(name, *latest)
                else:
                    fault = "holds no version to serve (a directory named 1, 2, ...)"
                    self._replace(name, None)
            except OSError as error:  # changes nothing: the directory may be back soon
                fault = f"cannot be read ({error.strerror})"
            fault = fault and f"{settings.base_path}: {fault}"
            if fault and self._faults.get(name) != fault:
                logging.warning("%s", fault)
            self._faults[name] = fault

    def first_error(self) -> str:
        """Why nothing is served; "" if something is."""
        if self._served:
            return ""
        errors = [state.error for states in self._states.values() for state in states.values()]
        return next(filter(None, [*errors, *self._faults.values()]), "")

    def _poll_often(self) -> None:
        while not self._stopping.wait(self._poll_seconds):
            self.poll()

    def _serve(self, name: str, version: int, path: str) -> None:
        """Loads a version unless it is served, or could not be loaded and has not changed."""
        if self._stopping.is_set() or (name in self._served and self._served[name][0] == version):
            return
        files = fingerprint(path)
        if self._failed.get((name, version)) == files:
            return
        self._set_state(name, version, VersionState(LOADING))
        task = self._worker.submit(self._load, path, name)
        if (error := task.exception()) is not None:
            self._failed[name, version] = files
            if isinstance(error, InputError):
                state = VersionState(END, str(error), "INVALID_ARGUMENT")
            else:
                reason = " ".join(str(error).split())[:300]
                state = VersionState(END, f"{path}: {type(error).__name__}: {reason}", "INTERNAL")
            self._set_state(name, version, state)
            logging.error("%s version %d is not served: %s", name, version, state.error)
            return
        self._failed.pop((name, version), None)
        self._replace(name, (version, task.result()))
        self._set_state(name, version, VersionState(AVAILABLE))
        logging.info("%s version %d is loaded from %s", name, version, path)

    def _replace(self, name: str, new: tuple[int, ServedModel] | None) -> None:
        """Takes the version that is served out of service; its last request frees it."""
        old = self._served.get(name)
        if new is None:
            self._served.pop(name, None)
        else:
            self._served[name] = new
        if old is not None:
            self._set_state(name, old[0], VersionState(END))
            logging.info("%s version %d is unloaded", name, old[0])
            del old
            gc.collect()  # a graph is full of reference cycles

    def _set_state(self, name: str, version: int, state: VersionState) -> None:
        self._states[name] = {**self._states[name], version: state}
