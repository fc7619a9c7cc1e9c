"""``kill -9`` of training at random moments: does the same command end with the same weights?

    python -m tests.chaos.kill_training --kills=20 --seed=1

Each run is killed once, at a moment drawn evenly over the time from its first file to its last, and
started again. It prints a line for each, and exits with code 1 if a run ends with other weights or
metrics than one that nobody disturbed. Runs alternate between UANet and a BiLSTM-CRF; the
state is saved after every step.
"""

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.training.tiny_run import (
    TINY,
    Corpus,
    assert_same_weights,
    metrics,
    run,
    start,
    timeless,
    write_corpus,
)

SETTINGS = ({"save_seconds": 0}, {"save_seconds": 0, "decoder": "crf", "encoder": "bilstm"})


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


def main() -> int:
    """Kills as often as asked; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, same = random.Random(arguments.seed), 0
    with tempfile.TemporaryDirectory() as name:
        corpus = write_corpus(Path(name) / "data")
        runs = [
            KilledTraining(Path(name) / str(number), corpus, **settings)
            for number, settings in enumerate(SETTINGS)
        ]
        for number in range(arguments.kills):
            try:
                said = f"same: killed {runs[number % len(runs)].kill_once(rng)}"
                same += 1
            except AssertionError:
                said = f"DIFFERENT: {traceback.format_exc()[-500:]}"
            sys.stdout.write(f"{number + 1}. {said}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{same} of {arguments.kills}\n")
    return 0 if same == arguments.kills else 1


if __name__ == "__main__":
    sys.exit(main())
