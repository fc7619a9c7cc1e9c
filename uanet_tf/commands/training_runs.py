"""Training runs in processes of their own, which can be continued: one, or one for each fold."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

import numpy as np

from uanet_lite.columns_file import format_columns
from uanet_lite.sentence import Sentence
from uanet_tf.commands.setting_flags import settings_of
from uanet_tf.config import Config
from uanet_tf.data.documents import fold_numbers
from uanet_tf.data.vocabulary import Vocabulary
from uanet_tf.errors import InputError, StoppedBySignal
from uanet_tf.evaluation.comparison import complete_metrics
from uanet_tf.registry import IMPORTED
from uanet_tf.training.run_directory import RunDirectory, file_hashes, flag_text

# Without a development file, the share of what is left for training that is kept aside as one.
DEV_PARTS = 10


def train_run(run_dir: pathlib.Path, arguments: Sequence[str], said: str) -> None:
    """Trains a run, unless it is complete; one that was stopped continues.

    Raises InputError where training failed, which has said why, or for a run of other settings or
    files.
    """
    if complete_metrics(run_dir) is not None:
        config, run = settings_of(arguments).config, RunDirectory(run_dir)
        run.check(config)
        run.check_data(config, file_hashes(config.data))
        return
    run_dir.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "uanet_tf.commands.uanet", "train"]
    command += [*(f"--import={module}" for module in IMPORTED), *arguments]
    sys.stderr.write(" ".join(command) + "\n")
    code = exit_code_of(command)
    if code:
        raise InputError(f"Training of {said} failed with exit code {code}.")


def check_settings(arguments: Sequence[str], said: str) -> None:
    """Raises InputError for settings that training would refuse, before it reads data."""
    from uanet_tf.models.build import make_tagger

    try:
        config, given = settings_of(arguments)
        if config.decoder.refiner_context == "auto":
            config = config.replace(refiner_context="sentence")
        labels = ("O", "B-X", "I-X", "E-X", "S-X")
        make_tagger(config, Vocabulary(("a",), (1,), ("a",), labels, "IOB2"), given)
    except InputError as error:
        raise InputError(f"The flags of {said}: {error}") from error


def exit_code_of(command: Sequence[str]) -> int:
    """The exit code of a command, which is told to end where this process is."""
    with subprocess.Popen(command) as process:
        if threading.current_thread() is not threading.main_thread():
            return process.wait()
        before = signal.getsignal(signal.SIGTERM)
        stopped = []

        def stop(*_: object) -> None:
            stopped.append(True)
            process.terminate()

        signal.signal(signal.SIGTERM, stop)
        try:
            code = process.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    if stopped:
        raise StoppedBySignal(signal.SIGTERM)
    return code


def train_folds(
    run_dir: str,
    config: Config,
    sentences: Sequence[Sentence],
    *,
    folds: int,
    dev: Sequence[Sentence] = (),
    given: Sequence[str] = (),
) -> Iterator[tuple[pathlib.Path, list[int]]]:
    """Trains a tagger for each fold; those that are complete are taken as they are.

    RUN_DIR/foldN are runs, RUN_DIR/data holds their files. The seed of the settings deals the
    sentences out.

    Args:
      config: settings of training; paths in it are not read.
      dev: development sentences of all runs; without any, a tenth of those to train on.
      given: flags that somebody typed, so that those without an effect are refused.

    Yields:
      Directory of the run, and the numbers of the sentences that it has not seen.

    Raises:
      InputError: a run is of other settings or sentences, or training failed.
    """
    folder = pathlib.Path(os.path.abspath(run_dir))
    numbers = np.array(fold_numbers(sentences, folds, config.training.seed))
    changes = {"train_path": "", "dev_path": "", "test_path": "", "data_format": "conll"}
    config = config.replace(**changes, token_column="0", label_column="-1")
    for fold in range(folds):
        kept = [sentences[k] for k in np.flatnonzero(numbers != fold)]
        parts = {"train": kept, "dev": list(dev)}
        if not dev:
            aside = list(zip(kept, _aside(kept, config.training.seed), strict=True))
            parts = {"train": [s for s, k in aside if k], "dev": [s for s, k in aside if not k]}
        run = folder / f"fold{fold + 1}"
        train_run(run, _arguments(folder, run, config, parts, given), f"fold {fold + 1}")
        yield run, np.flatnonzero(numbers == fold).tolist()


def _aside(sentences: Sequence[Sentence], seed: int) -> list[int]:
    """0 for the sentences of a fold's training that are its development data."""
    try:
        return fold_numbers(sentences, DEV_PARTS, seed)
    except InputError as error:
        raise InputError(
            "Without --dev_path a tenth of what a fold trains on is its development data, and "
            f"there is too little: {error} Give --dev_path=FILE."
        ) from error


def _arguments(
    folder: pathlib.Path,
    run: pathlib.Path,
    config: Config,
    parts: dict[str, list[Sentence]],
    given: Sequence[str],
) -> list[str]:
    """Writes the files of a fold; the flags of its training."""
    data = folder / "data"
    paths = {name: data / f"{run.name}_{name}.conll" for name in parts}
    flagfile = data / f"{run.name}.flags"
    settings = config.replace(**{f"{name}_path": str(path) for name, path in paths.items()})
    try:
        data.mkdir(parents=True, exist_ok=True)
        for name, path in paths.items():
            path.write_text(format_columns(parts[name]), encoding="utf-8")
        flagfile.write_text(flag_text(settings), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{data} cannot be written: {error.strerror}.") from error
    return [f"--flagfile={flagfile}", *given, f"--run_dir={run}"]
