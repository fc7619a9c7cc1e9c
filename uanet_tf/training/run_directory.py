"""The directory of a run: its files, hashes of its data, and a lock."""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from absl import logging

from uanet_lite.atomic_file import atomic_file
from uanet_lite.columns_file import format_columns
from uanet_lite.sentence import Sentence
from uanet_lite.strict_json import check_fields, read_json
from uanet_tf.config import ARGUMENTS, Config, DataConfig, iter_options
from uanet_tf.errors import InputError, one_line
from uanet_tf.formats.table import Reading, read_labelled
from uanet_tf.metrics.run_metrics import read_run_metrics
from uanet_tf.option import has_flag

# Settings that do not change what is learnt, so a run may be continued with other values.
FREE_SETTINGS = ("save_seconds", "strategy")
# Of these what "auto" stood for is saved; the same files give the same again.
FOUND_SETTINGS = ("refiner_context",)


class RunDirectory:
    """Paths of a run, with atomic writing and a lock against a second trainer."""

    def __init__(self, path: str | os.PathLike):
        self.path = pathlib.Path(path)
        self.config = self.path / "config.json"
        self.flags = self.path / "flags.txt"
        self.hashes = self.path / "data_hashes.json"
        self.vocabulary = self.path / "vocabulary.json"
        self.model = self.path / "model.keras"
        self.init = self.path / "init" / "model.keras"  # a copy of what --init names
        self.metrics = self.path / "metrics.json"
        self.state = self.path / "checkpoints"
        self.best = self.path / "checkpoints" / "best.weights.npz"
        self.logs = self.path / "tensorboard"
        self._lock: Any = None

    def claim(self, config: Config, hashes: Mapping[str, str] | None = None) -> bool:
        """Makes the directory this run's own; returns whether such a run was begun here before.

        Args:
          hashes: {flag that names a file: hash of what was read of it}.

        Raises:
          InputError: the directory cannot be made, belongs to another configuration or other
            data or to something else, or is being trained in by another process.
        """
        with self._locking("trained in"):
            # Another process may have been here between the first check and the lock.
            self.check(config)
            begun = self.config.exists()
            if self.has_state():
                self.check_data(config, hashes or {})
            for left in self.path.glob(".*.part*"):
                left.unlink()
            # First of all, since it is what makes the directory a run's.
            self.write(self.config, json.dumps(config.to_dict(), indent=2) + "\n")
            self.write(self.flags, flag_text(config))
            self.write(self.hashes, json.dumps(dict(hashes or {}), indent=2) + "\n")
            self.state.mkdir(exist_ok=True)
        return begun

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Within this context no other process trains or calibrates here.

        Raises InputError if one does, or if the directory cannot be written.
        """
        with self._locking("changed"):
            pass
        try:
            yield
        finally:
            self.release()

    @contextlib.contextmanager
    def _locking(self, doing: str) -> Iterator[None]:
        """Takes the lock, for longer than this context, unless something in it fails."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.path / ".lock", "w")  # noqa: SIM115 held until it is released
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except InputError:
            self.release()
            raise
        except BlockingIOError:
            self.release()
            raise InputError(f"{self.path} is being {doing} by another process.") from None
        except OSError as error:
            self.release()
            message = f"`run_dir={self.path}` cannot be written: {error.strerror}."
            raise InputError(message) from error

    def held(self, names: Iterable[str]) -> dict[str, pathlib.Path]:
        """Where the run keeps data that were given as Python's lists: {name: file}."""
        return {name: self.path / "data" / f"{name}.conll" for name in names}

    def keep(self, held: Mapping[str, Sequence[Sentence]]) -> None:
        """Writes such data."""
        for name, path in self.held(held).items():
            path.parent.mkdir(exist_ok=True)
            self.write(path, format_columns(held[name]))

    def keep_init(self, model: Any) -> None:
        """Writes the model of --init, so that the run can be resumed without it."""
        if model is not None and not self.init.exists():
            self.init.parent.mkdir(exist_ok=True)
            with self.writing(self.init) as part:
                model.save(part)

    def release(self) -> None:
        """Lets another process train here."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def write(self, path: pathlib.Path, text: str) -> None:
        """Writes a text file completely or not at all."""
        with self.writing(path) as part, open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def writing(self, path: pathlib.Path) -> Iterator[pathlib.Path]:
        """Gives the place where a file is written; it takes its name when it is whole.

        Raises InputError if it cannot be written, as on a full disk; ``path`` is what it was.
        """
        try:
            with atomic_file(path) as part:
                yield pathlib.Path(part)
        except (OSError, RuntimeError) as error:  # HDF5 raises the latter when it closes a file
            number = getattr(error, "errno", None)
            reason = os.strerror(number) if number else one_line(error)
            raise InputError(
                f"{path} cannot be written: {reason}. Once it can, the same command continues."
            ) from error

    def finished_metrics(self) -> dict[str, Any] | None:
        """The metrics of a run that is complete, else None.

        A complete run with a damaged file is not complete, if it can be repaired from its state;
        without a state an InputError is raised.
        """
        if not (self.model.exists() and self.metrics.exists()):
            return None
        from uanet_tf.models.loading import check_archive  # TensorFlow is loaded only for a model

        try:
            metrics = read_run_metrics(self.metrics)
            if "dev" not in metrics:
                return None
            check_archive(self.model)
            return metrics
        except InputError as error:
            if not self.has_state():
                raise InputError(
                    f"{error}; {self.state} has no state to repair it: name another `run_dir`."
                ) from error
            logging.warning("%s; it is written again from the last saved state", error)
            return None

    def has_state(self) -> bool:
        """Whether a state was saved that the run can go on from."""
        return any(self.state.glob("ckpt-*.index"))

    def check(self, config: Config) -> None:
        """Raises InputError if the directory holds anything but a run of ``config``."""
        try:
            self._check(config)
        except OSError as error:
            raise InputError(f"`run_dir={self.path}` cannot be read: {error.strerror}.") from error

    def _check(self, config: Config) -> None:
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise InputError(f"`run_dir={self.path}` is a file, not a directory.")
        if not self.config.exists():
            names = sorted(item.name for item in self.path.iterdir())
            # A corpus may lie in the directory of its run, as the demo's does.
            left = [name for name in names if not name.startswith(".") and name != "data"]
            if left:
                raise InputError(
                    f"`run_dir={self.path}` holds other files ({left[0]}, ...) and no run: "
                    "name a new or empty directory."
                )
            return
        try:
            saved = read_json(self.config)
            changed = changed_settings(saved, config)
        except (ValueError, AttributeError) as error:
            raise InputError(f"{self.config} is not a configuration: {error}") from error
        if changed:
            raise InputError(
                f"`run_dir={self.path}` holds a run with another configuration: "
                f"{'; '.join(changed[:4])}. Name another directory; the settings "
                f"of this one are in {self.flags}."
            )

    def check_data(self, config: Config, hashes: Mapping[str, str]) -> None:
        """Raises InputError if the run saw other data; see ``claim``."""
        if not self.hashes.exists():
            return
        try:
            saved = read_json(self.hashes)
            check_fields(saved, {}, dict.fromkeys(saved, str), where="it")
        except (ValueError, TypeError) as error:
            raise InputError(f"{self.hashes} cannot be read: {one_line(error)}") from error
        paths = {field.name: value for _, field, value in iter_options(config)}
        for name, value in hashes.items():
            if saved.get(name, value) != value:
                raise InputError(
                    f"`{ARGUMENTS.get(name, name)}={paths[name]}` is not what the run in "
                    f"{self.path} was begun with: its content has changed. Bring the old content "
                    "back, or name another `run_dir`."
                )


def changed_settings(saved: dict[str, dict[str, Any]], config: Config) -> list[str]:
    """Settings that differ, as "`name` was a, now b"."""
    changed = []
    for group, field, value in iter_options(config):
        before = saved.get(group, {}).get(field.name, field.default)
        same = before == value or (value == "auto" and field.name in FOUND_SETTINGS)
        if not same and field.name not in FREE_SETTINGS:
            changed.append(f"`{field.name}` was {before!r}, now {value!r}")
    return changed


def flag_text(config: Config) -> str:
    """The configuration as a flagfile."""
    return "".join(
        f"--{field.name}={str(value).lower() if isinstance(value, bool) else value}\n"
        for _, field, value in iter_options(config)
        if has_flag(field, "train")
    )


def hash_sentences(sentences: Iterable[Sentence]) -> str:
    """SHA-256 of what training reads of a file: tokens, labels and where documents begin.

    It depends on sentences and not on bytes, so that a pipe is read once, and gzip, line ends and
    comments may change.
    """
    digest = hashlib.sha256()
    for sentence in sentences:
        head = f"{len(sentence.tokens)} {sentence.new_document:d}"
        lines = (head, *sentence.tokens, *sentence.labels, "")  # no token holds a line feed
        digest.update("\n".join(lines).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def hash_json(values: Any) -> str:
    """SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def file_hashes(config: DataConfig) -> dict[str, str]:
    """{"train_path": hash of what training reads of it, ...} of the files that are there.

    A pipe is not read. Raises InputError if a file cannot be read.
    """
    hashes = {}
    for name in ("train_path", "dev_path", "test_path"):
        path = getattr(config, name)
        if path and os.path.isfile(path):
            found, reading = os.stat(path), Reading.of_settings(config)
            hashes[name] = _hash_of(path, reading, found.st_mtime_ns, found.st_size)
    return hashes


@functools.lru_cache(maxsize=16)
def _hash_of(path: str, reading: Reading, *_: int) -> str:
    return hash_sentences(read_labelled(path, reading))
