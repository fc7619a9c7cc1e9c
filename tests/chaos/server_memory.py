"""The memory of the local server: for one long request, and after many new versions.

    python -m tests.chaos.server_memory [--run_dir=RUN] [--reloads=50]

The server is a process of its own with its default limits. It serves an export of the run, or of
an untrained tagger of the sizes of configs/uanet_fast.flags. Exits with code 1 if a goal is missed:
1.5 GB for a request of 4,000 tokens; one of 100,000 refused, or 2 GB; after all reloads 1.1 times
the memory after five.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

import psutil
import requests

from tests.chaos.exported import exported
from tests.serving.servers import ServerProcess, wait_for_version

TOKENS = {4_000: 1.5e9, 100_000: 2e9}  # of a request: the most bytes that it may take
FEW_RELOADS, MOST_GROWTH = 5, 1.1
# Half of them unknown to any vocabulary: the gate opens often, and the refiner works.
WORDS = ("Ann", "saw", "Oslo", "Xyqz", "Wrrk", ".")


class MeasuredServer:
    """A server process and its memory.

    Args:
      process: it, started.
    """

    def __init__(self, process: ServerProcess) -> None:
        self.url = process.wait_until_ready()
        self._process = psutil.Process(process.process.pid)

    def ask(self, num_tokens: int) -> int:
        """The status of the answer to one sentence of so many tokens."""
        tokens = [WORDS[position % len(WORDS)] for position in range(num_tokens)]
        body = json.dumps({"inputs": {"tokens": [tokens], "lengths": [num_tokens]}})
        return requests.post(f"{self.url}/v1/models/uanet:predict", body, timeout=120).status_code

    @property
    def memory(self) -> int:
        """Bytes now."""
        return self._process.memory_info().rss

    @property
    def peak(self) -> int:
        """Most bytes since the start (Linux)."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        lines = dict(line.split(":", 1) for line in status.splitlines())
        return int(lines["VmHWM"].split()[0]) << 10


def long_requests(server: MeasuredServer) -> bool:
    """Prints the peak of memory after each; returns whether the goals are met."""
    _say(f"started: {server.memory / 1e9:.2f} GB")
    met = True
    for num_tokens, most in TOKENS.items():
        status = server.ask(num_tokens)
        _say(f"{num_tokens:,} tokens: answered with {status}, peak {server.peak / 1e9:.2f} GB")
        met &= server.peak <= most and status in (200, 400)
    return met


def reloads(server: MeasuredServer, folder: Path, count: int) -> bool:
    """Publishes new versions of the model in ``folder``; returns whether the goal is met."""
    after_few = 0
    for done in range(1, count + 1):
        old, new = folder / str(done), folder / str(done + 1)
        part = folder / f".part-{new.name}"
        shutil.copytree(old, part)
        os.rename(part, new)
        wait_for_version(server.url, "uanet", done + 1)
        wait_for_version(server.url, "uanet", done, "END")
        shutil.rmtree(old)
        if server.ask(10) != requests.codes.ok:
            raise RuntimeError(f"version {done + 1} does not answer")
        if done == FEW_RELOADS:
            after_few = server.memory
        if done % FEW_RELOADS == 0:
            _say(f"{done} reloads: {server.memory / 1e9:.3f} GB")
    growth = server.memory / after_few if after_few else 1.0
    _say(f"after {count} reloads {growth:.3f} times the memory after {FEW_RELOADS}")
    return growth <= MOST_GROWTH


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Measures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run_dir", help="a trained run")
    parser.add_argument("--reloads", type=int, default=50)
    arguments = parser.parse_args()
    with exported(arguments.run_dir) as folder:
        flags = ("--model_name=uanet", f"--model_base_path={folder / 'uanet'}")
        with ServerProcess(*flags) as process:
            met = long_requests(MeasuredServer(process))
        poll = "--file_system_poll_wait_seconds=0.2"
        with ServerProcess(*flags, poll) as process:
            met &= reloads(MeasuredServer(process), folder / "uanet", arguments.reloads)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
