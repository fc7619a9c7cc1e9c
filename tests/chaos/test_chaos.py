"""Random kills of train, export, tag and server, for a fixed time: nothing half made is seen."""

import itertools
import os
import random
import shutil
import subprocess
import sys
import time

import pytest
import requests

from tests.chaos.kill_training import KilledTraining
from tests.serving.servers import ROOT, ServerProcess
from tests.training.tiny_run import start, write_corpus
from uanet_tf.exporting.saved_model import export
from uanet_tf.files.checksums import CHECKSUMS, check_checksums

pytestmark = pytest.mark.process

SECONDS = float(os.environ.get("CHAOS_SECONDS", "30"))
SENTENCE = '{"inputs": {"tokens": [["Ann", "saw", "Oslo"]], "lengths": [3]}}'


def command(*arguments):
    return [sys.executable, "-m", "uanet_tf.commands.uanet", *map(str, arguments)]


class Chaos:
    """What is killed, and what must hold afterwards.

    Args:
      folder: for runs and exports.
      rng: chooses the moments.
    """

    def __init__(self, folder, rng):
        self._rng = rng
        corpus = write_corpus(folder / "data")
        self._training = KilledTraining(folder / "runs", corpus, save_seconds=0)
        self._run = folder / "runs" / "whole"
        self._exports, self._input = folder / "exports", corpus.test
        self._output = folder / "out.conll"
        begun = time.monotonic()
        self._first = export(self._run, self._exports)
        self._export_seconds = 5 + time.monotonic() - begun
        with start(command("tag", f"--run_dir={self._run}", f"--input={self._input}")) as process:
            begun = time.monotonic()
            self._tagged, err = process.communicate(timeout=600)
            assert process.returncode == 0, err
        self._tag_seconds = time.monotonic() - begun
        with self._serve() as server:
            self._answer = self._ask(server.wait_until_ready())

    def train(self):
        """The same command ends with the same weights."""
        self._training.kill_once(self._rng)

    def export(self):
        """Every version that is seen is whole, and the next export clears up."""
        arguments = (f"--run_dir={self._run}", f"--export_dir={self._exports}")
        self._kill(command("export", *arguments), self._export_seconds)
        versions = [path for path in self._exports.glob("*/*") if path.name.isdigit()]
        for path in versions:
            assert (path / CHECKSUMS).exists()
            check_checksums(path)
        export(self._run, self._exports)
        names = [
            sorted(path.name for path in folder.iterdir())
            for folder in sorted(self._exports.iterdir())
        ]
        assert names[0] == names[1]
        assert all(name.isdigit() for name in names[0])
        for name in names[0][:-1]:
            if name != str(self._first.version):
                shutil.rmtree(self._exports / "uanet" / name)
                shutil.rmtree(self._exports / "uanet_text" / name)

    def tag(self):
        """The output is the old one or the whole new one, and what is left is swept."""
        arguments = (f"--run_dir={self._run}", f"--input={self._input}", f"--output={self._output}")
        self._output.write_text("old\n")
        self._kill(command("tag", *arguments), self._tag_seconds)
        assert self._output.read_text("utf-8") in ("old\n", self._tagged)
        assert subprocess.run(command("tag", *arguments), cwd=ROOT, check=False).returncode == 0
        assert self._output.read_text("utf-8") == self._tagged
        assert not list(self._output.parent.glob(".*.part.*"))

    def serve(self):
        """A server that is killed under load is started again, and answers as before."""
        with self._serve() as server:
            url = server.wait_until_ready()
            end = time.monotonic() + self._rng.uniform(0.0, 2.0)
            while time.monotonic() < end:
                assert self._ask(url) == self._answer
            server.process.kill()
            server.wait()
        with self._serve() as server:
            assert self._ask(server.wait_until_ready()) == self._answer

    def _kill(self, arguments, seconds):
        with start(arguments) as process:
            time.sleep(self._rng.uniform(0.0, seconds))
            process.kill()
            process.communicate()

    def _serve(self):
        return ServerProcess("--model_name=uanet", f"--model_base_path={self._exports / 'uanet'}")

    def _ask(self, url):
        answer = requests.post(f"{url}/v1/models/uanet:predict", data=SENTENCE, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_random_kills(tmp_path):
    """One kind after the other, in random order, until the time is over; at least one."""
    end = time.monotonic() + SECONDS
    seed = int(os.environ.get("CHAOS_SEED", time.time_ns() % 2**32))
    rng = random.Random(seed)
    chaos = Chaos(tmp_path, rng)
    kinds = [chaos.train, chaos.export, chaos.tag, chaos.serve]
    rng.shuffle(kinds)
    for done, kind in enumerate(itertools.cycle(kinds), 1):
        try:
            kind()
        except BaseException as error:
            error.add_note(f"CHAOS_SEED={seed}, kill {done}: {kind.__name__}")
            raise
        if time.monotonic() > end:
            break
