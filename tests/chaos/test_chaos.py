"""Random kills of train and export, for a fixed time: nothing half made is seen."""

import itertools
import os
import random
import shutil
import sys
import time

import pytest

from tests.training.tiny_run import (
    assert_same_weights,
    metrics,
    run,
    start,
    timeless,
    train_command,
    write_corpus,
)
from uanet_tf.exporting.saved_model import export
from uanet_tf.files.checksums import CHECKSUMS, check_checksums

pytestmark = pytest.mark.process

SECONDS = float(os.environ.get("CHAOS_SECONDS", "30"))


class Chaos:
    """What is killed, and what must hold afterwards.

    Args:
      folder: for runs and exports.
      rng: chooses the moments.
    """

    def __init__(self, folder, rng):
        self._folder, self._rng, self._seconds = folder, rng, {}
        self._corpus = write_corpus(folder)
        self._whole, self._exports = folder / "whole", folder / "exports"
        self._end("train", train_command(self._corpus, self._whole, save_seconds=0))
        self._export = [sys.executable, "export.py", f"--run_dir={self._whole}"]
        self._export += [f"--export_dir={self._exports}"]
        self._end("export", self._export)

    def train(self):
        """The same command ends with the same weights."""
        path = self._folder / f"killed{len(list(self._folder.iterdir()))}"
        arguments = train_command(self._corpus, path, save_seconds=0)
        self._kill("train", arguments)
        self._end("train", arguments)
        assert_same_weights(self._whole, path)
        assert timeless(metrics(self._whole)) == timeless(metrics(path))
        assert not list(path.glob(".*part*"))

    def export(self):
        """Every version that is seen is whole, and the next export clears up."""
        self._kill("export", self._export)
        for path in self._exports.glob("*/*"):
            if path.name.isdigit():
                assert (path / CHECKSUMS).exists()
                check_checksums(path)
        export(self._whole, self._exports)
        folders = sorted(self._exports.iterdir())
        tokens, text = ({path.name for path in folder.iterdir()} for folder in folders)
        assert tokens == text
        assert all(name.isdigit() for name in text)
        for folder, name in itertools.product(folders, text):
            shutil.rmtree(folder / name)

    def _end(self, name, arguments):
        begun = time.monotonic()
        code, _, err = run(arguments)
        assert code == 0, err
        self._seconds[name] = time.monotonic() - begun

    def _kill(self, name, arguments):
        """Kills a command, most often after TensorFlow is loaded."""
        with start(arguments) as process:
            time.sleep(self._rng.uniform(0.3, 1.0) * self._seconds[name])
            process.kill()
            process.communicate()


def test_random_kills(tmp_path):
    """One kind after the other, in random order, until the time is over; at least one."""
    end = time.monotonic() + SECONDS
    seed = int(os.environ.get("CHAOS_SEED", time.time_ns() % 2**32))
    rng = random.Random(seed)
    chaos = Chaos(tmp_path, rng)
    kinds = [chaos.train, chaos.export]
    rng.shuffle(kinds)
    for done, kind in enumerate(itertools.cycle(kinds), 1):
        try:
            kind()
        except BaseException as error:
            error.add_note(f"CHAOS_SEED={seed}, kill {done}: {kind.__name__}")
            raise
        if time.monotonic() > end:
            break
