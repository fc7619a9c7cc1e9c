"""``kill -9`` of training at random moments: does the same command end with the same weights?"""

import random
import signal
import sys
import time
from pathlib import Path

from tests.training.tiny_run import (
    TINY,
    Corpus,
    assert_same_weights,
    metrics,
    run,
    start,
    timeless,
)


class KilledTraining:
    """A run that nobody disturbs, and others that are killed and compared with it.

    Args:
      folder: for the runs.
      corpus: to train on.
      changes: settings that differ from ``tiny_run``'s.
    """

    def __init__(self, folder: Path, corpus: Corpus, **changes) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        settings = corpus.settings | TINY | changes
        # From a flagfile, since settings that are typed must be read by the parts.
        self._flags = folder / "settings.flags"
        self._flags.write_text("".join(f"--{name}={settings[name]}\n" for name in settings))
        self._whole = folder / "whole"
        self._seconds = self._train(self._whole, None)
        self._count = 0

    def kill_once(self, rng: random.Random) -> str:
        """Kills a new run, ends it, compares it, and says when it was killed.

        Raises:
          AssertionError: the same command fails afterwards, or ends with another result.
        """
        self._count += 1
        path = self._folder / f"killed{self._count}"
        moment = rng.uniform(0.0, self._seconds)
        self._train(path, moment)
        done = sorted(item.name for item in path.iterdir() if not item.name.startswith("."))
        code, _, err = run(self._command(path))
        assert code == 0, err
        assert_same_weights(self._whole, path)
        assert timeless(metrics(self._whole)) == timeless(metrics(path))
        assert not list(path.glob(".*part*"))
        return f"after {moment:.2f} of {self._seconds:.2f} s, {len(done)} files"

    def _command(self, path: Path) -> list[str]:
        return [sys.executable, "train.py", f"--flagfile={self._flags}", f"--run_dir={path}"]

    def _train(self, path: Path, kill_after: float | None) -> float:
        """Trains, and returns the seconds from the first file to the end, or to the kill."""
        with start(self._command(path)) as process:
            while not (path / "config.json").exists():
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.005)
            begun = time.monotonic()
            if kill_after is not None:
                time.sleep(kill_after)
                process.send_signal(signal.SIGKILL)
            _, err = process.communicate(timeout=600)
            if kill_after is None:
                assert process.returncode == 0, err
        return time.monotonic() - begun
