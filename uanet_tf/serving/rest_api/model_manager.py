"""Keeps the served versions loaded, and gives them to requests."""

import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from absl import logging

from uanet_tf.errors import InputError
from uanet_tf.serving.rest_api.model_config import (
    Fingerprint,
    ModelSettings,
    check_files,
    fingerprint,
    list_versions,
)
from uanet_tf.serving.rest_api.rest_error import bad_request, not_found
from uanet_tf.serving.rest_api.served_model import ServedModel, give_memory_back

LOADING, AVAILABLE, UNLOADING, END = "LOADING", "AVAILABLE", "UNLOADING", "END"
_MOST_RETRY_SECONDS = 300.0
_UNLOAD_SECONDS = 10.0


@dataclasses.dataclass(frozen=True)
class VersionState:
    """State of a version.

    Attributes:
      state: LOADING, AVAILABLE, UNLOADING or END.
      error: why it could not be loaded, "" if it could.
      code: TensorFlow's name of that kind of error.
    """

    state: str
    error: str = ""
    code: str = "OK"


@dataclasses.dataclass(frozen=True)
class _Failure:
    """A version that could not be loaded: its files then, how often, and when to try again."""

    files: Fingerprint
    tries: int
    again: float  # of time.monotonic()


class _Served:
    """A loaded version and the number of requests that are using it."""

    def __init__(self, model: ServedModel) -> None:
        self.model = model
        self.users = 0


class ModelManager:
    """The models of a server.

    A version that is no longer wanted serves until a wanted one is ready, and until the
    last request that began with it has its answer. If one cannot be loaded, its state says so
    and it is tried again: when its files change, and after pauses that
    double from ``retry_seconds`` to five minutes.

    Args:
      models: what to serve.
      load: makes a model of a version's directory and the name of the model.
      poll_seconds: time between two checks of the directories; 0: only one check.
      retry_seconds: the first pause before an unchanged version is tried again.
    """

    def __init__(
        self,
        models: Sequence[ModelSettings],
        load: Callable[[str, str], ServedModel],
        *,
        poll_seconds: float = 1.0,
        retry_seconds: float = 5.0,
    ) -> None:
        self._settings = {settings.name: settings for settings in models}
        self._load = load
        self._poll_seconds = poll_seconds
        self._retry_seconds = retry_seconds
        self._changed = threading.Condition()
        self._served: dict[str, dict[int, _Served]] = {name: {} for name in self._settings}
        self._states: dict[str, dict[int, VersionState]] = {name: {} for name in self._settings}
        self._leaving: list[tuple[str, int, _Served]] = []
        self._failed: dict[tuple[str, int], _Failure] = {}
        self._faults: dict[str, str] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        # Models are loaded and closed in a thread of their own: any error becomes the result of a
        # task, and cannot end the thread that polls.
        self._worker = ThreadPoolExecutor(1, "load")

    # ------------------------------------------------------------------ for requests

    @contextlib.contextmanager
    def use(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> Iterator[tuple[int, ServedModel]]:
        """The version that a request means, and the model, which stays loaded meanwhile.

        Raises:
          RestError: 400, unknown label; 404, no such model, or version not loaded.
        """
        with self._changed:
            if label is not None:
                version = self._labelled(name, label)
            served = self._served.get(name, {})
            if version is None and served:
                version = max(served)
            if version not in served:
                wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
                raise not_found(f"Servable not found for request: {wanted}")
            entry = served[version]
            entry.users += 1
        try:
            yield version, entry.model
        finally:
            with self._changed:
                entry.users -= 1
                self._changed.notify_all()

    def states(self, name: str, version: int | None = None) -> list[tuple[int, VersionState]]:
        """States of a model's versions, or of one of them, newest first.

        Raises:
          RestError: 404, no such model or version.
        """
        with self._changed:
            states = dict(self._states.get(name, {}))
        if version is not None:
            states = {number: states[number] for number in states if number == version}
        if not states:
            wanted = "any versions" if version is None else f"version {version}"
            raise not_found(f"Could not find {wanted} of model {name}")
        return sorted(states.items(), reverse=True)

    def names(self) -> list[str]:
        """Names of the models, in the order in which they were given."""
        return list(self._settings)

    def _labelled(self, name: str, label: str) -> int:
        settings = self._settings.get(name)
        if settings is None or label not in settings.labels:
            raise bad_request(f"Unrecognized servable version label: {label}")
        return settings.labels[label]

    # ------------------------------------------------------------------ loading

    def start(self) -> None:
        """Loads what there is now, then polls in the background."""
        self.poll()
        if self._poll_seconds > 0:
            self._thread = threading.Thread(target=self._poll_often, name="models", daemon=True)
            self._thread.start()

    def stop(self, timeout: float = 5.0) -> bool:
        """Stops polling and unloads everything; False if a load did not end in time."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout)
            if self._thread.is_alive():
                return False
        for name in self._settings:
            for version in list(self._served[name]):
                self._unload(name, version, timeout)
        self._worker.shutdown(wait=False)
        return True

    def poll(self) -> None:
        """Checks the directories once, loads what is new and unloads what is no longer wanted."""
        for name, settings in self._settings.items():
            wanted = self._wanted(settings)
            if wanted is None:
                continue
            for version, path in wanted.items():
                if not self._stopping.is_set():
                    self._load_version(name, version, path)
            served = self._served[name]
            # With nothing on disk the model is unloaded; with nothing ready, the old one stays.
            if not wanted or any(version in served for version in wanted):
                for version in [version for version in served if version not in wanted]:
                    self._unload(name, version, _UNLOAD_SECONDS)
        self._close_idle()

    def first_error(self) -> str:
        """Why nothing is served; "" if something is."""
        with self._changed:
            if any(self._served.values()):
                return ""
            errors = [state.error for states in self._states.values() for state in states.values()]
            faults = {name: fault for name, fault in self._faults.items() if fault}
            errors += [f"{self._settings[name].base_path}: {faults[name]}" for name in faults]
        return next(filter(None, errors), "")

    def _wanted(self, settings: ModelSettings) -> dict[int, str] | None:
        """Versions on disk; reports once what is wrong with them.

        None if they cannot be read, which changes nothing: the directory may be back soon.
        """
        try:
            wanted = list_versions(settings)
            fault = "" if wanted else "holds no version to serve (a directory named 1, 2, ...)"
        except OSError as error:
            wanted, fault = None, f"cannot be read ({error.strerror})"
        if fault and self._faults.get(settings.name) != fault:
            logging.warning("%s: %s", settings.base_path, fault)
        self._faults[settings.name] = fault
        return wanted

    def _poll_often(self) -> None:
        while not self._stopping.wait(self._poll_seconds):
            self.poll()

    def _load_version(self, name: str, version: int, path: str) -> None:
        if version in self._served[name]:
            return
        files = fingerprint(path)
        failure = self._failed.get((name, version))
        if failure and failure.files == files and time.monotonic() < failure.again:
            return
        self._set_state(name, version, VersionState(LOADING))
        task = self._worker.submit(self._load_files, path, name)
        if (error := task.exception()) is not None:
            tries = failure.tries + 1 if failure and failure.files == files else 1
            self._note_failure(name, version, path, error, files, tries)
            # What was read of it is held by the error.
            del task, error
            self._worker.submit(give_memory_back).result()
            return
        self._failed.pop((name, version), None)
        with self._changed:
            self._served[name][version] = _Served(task.result())
            self._states[name][version] = VersionState(AVAILABLE)
        logging.info("%s version %d is served from %s", name, version, path)

    def _load_files(self, path: str, name: str) -> ServedModel:
        check_files(path)
        return self._load(path, name)

    def _note_failure(
        self,
        name: str,
        version: int,
        path: str,
        error: BaseException,
        files: Fingerprint,
        tries: int,
    ) -> None:
        # It may still be being copied, or the machine may lack memory for a moment.
        pause = min(self._retry_seconds * 2 ** min(tries - 1, 10), _MOST_RETRY_SECONDS)
        self._failed[name, version] = _Failure(files, tries, time.monotonic() + pause)
        if isinstance(error, InputError):
            state = VersionState(END, str(error), "INVALID_ARGUMENT")
        else:
            reason = " ".join(str(error).split())[:300]
            state = VersionState(END, f"{path}: {type(error).__name__}: {reason}", "INTERNAL")
        self._set_state(name, version, state)
        logging.error("%s version %d is not served: %s", name, version, state.error)
        if self._poll_seconds > 0:
            logging.info("It is tried again when its files change, or in %g s", pause)

    def _unload(self, name: str, version: int, timeout: float) -> None:
        """Takes a version out of service; waits for its requests, up to a limit."""
        with self._changed:
            entry = self._served[name].pop(version)
            self._states[name][version] = VersionState(UNLOADING)
            self._leaving.append((name, version, entry))
            self._changed.wait_for(lambda: entry.users == 0, timeout)
        self._close_idle()

    def _close_idle(self) -> None:
        """Closes the versions on their way out that no request uses any more."""
        with self._changed:
            idle = [each for each in self._leaving if each[2].users == 0]
            self._leaving = [each for each in self._leaving if each[2].users]
        for name, version, entry in idle:
            if (error := self._worker.submit(entry.model.close).exception()) is not None:
                logging.error("%s version %d cannot be closed: %s", name, version, error)
            if version not in self._served[name]:  # the number may have come back
                self._set_state(name, version, VersionState(END))
            logging.info("%s version %d is unloaded", name, version)

    def _set_state(self, name: str, version: int, state: VersionState) -> None:
        with self._changed:
            self._states[name][version] = state
