"""Servers for the tests: one in a thread of this process, one in a process of its own."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from uanet_tf.serving.rest_api.app import make_app, make_server
from uanet_tf.serving.rest_api.handler import Handler
from uanet_tf.serving.rest_api.loaded_model import LoadedModel
from uanet_tf.serving.rest_api.model_config import ModelSettings
from uanet_tf.serving.rest_api.model_manager import ModelManager

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 120


@contextlib.contextmanager
def in_thread(
    models: Sequence[ModelSettings], *, threads: int = 4, load=None, **limits: float
) -> Iterator[str]:
    """Serves in this process, which has TensorFlow loaded already; gives the URL."""
    manager = ModelManager(models, load or _load, poll_seconds=0)
    manager.start()
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    with ThreadPoolExecutor(threads) as executor:
        handler = Handler(manager, **{"body_bytes": 1 << 20, **limits})
        server = make_server(make_app(handler, executor))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
    manager.stop()


def _load(path: str, name: str) -> LoadedModel:
    del name
    return LoadedModel(path)


ONE_THREAD = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}


class ServerProcess:
    """``python -m serving.local_server`` as a user starts it, on a free port."""

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "serving.local_server", "--rest_api_port=0", *arguments],
            cwd=ROOT,
            env=os.environ | ONE_THREAD | {"CUDA_VISIBLE_DEVICES": ""} | (environment or {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    @property
    def log(self) -> str:
        return "\n".join(self.lines)

    def wait_until_ready(self) -> str:
        """The URL, as soon as the server tells it."""
        found = self.wait_for_log(r" at (http://\S+)/v1/models/")
        return found.group(1)

    def wait_for_log(self, pattern: str) -> re.Match:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if found := re.search(pattern, self.log):
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"no {pattern!r} in the log:\n{self.log}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and returns the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(timeout=START_SECONDS)
        self._reader.join(timeout=10)
        return code

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(timeout=10)
        self.process.stderr.close()


def wait_for_version(url: str, model: str, version: int, state: str = "AVAILABLE") -> None:
    """Returns as soon as the server says that a version is in a state."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        answer = requests.get(f"{url}/v1/models/{model}", timeout=10).json()
        states = {
            int(each["version"]): each["state"] for each in answer.get("model_version_status", [])
        }
        if states.get(version) == state:
            return
        time.sleep(0.05)
    raise AssertionError(f"version {version} of {model} is never {state}")
