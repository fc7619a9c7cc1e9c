"""A headless Chromium, driven by its DevTools protocol over two pipes: needs no other package."""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
WAIT_SECONDS = 60


class Browser:
    """One page of a running browser."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._write = os.fdopen(to_browser, "wb", buffering=0)
        self._read = os.fdopen(from_browser, "rb")
        self._number = 0
        self._session: str | None = None
        self.errors: list[str] = []  # of scripts and of the content security policy
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._read.read(1)) != b"\0":
            assert byte, "the browser ended"
            text += byte
        answer = json.loads(text)
        if answer.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(answer["params"]["exceptionDetails"])[:500])
        if (
            answer.get("method") == "Log.entryAdded"
            and answer["params"]["entry"]["level"] == "error"
        ):
            self.errors.append(answer["params"]["entry"]["text"])
        return answer

    def open(self, url: str, width: int = 1000, height: int = 900, dark: bool = False) -> None:
        self.size(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def size(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def run(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> Any:
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            if value := self.run(condition):
                return value
            time.sleep(0.02)
        raise AssertionError(f"never: {condition}")

    def screenshot(self, path: Path | str) -> None:
        """The whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser; the test is skipped where there is none."""
    command = next(filter(None, map(shutil.which, NAMES)), None)
    if command is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed")
    read_commands, to_browser = os.pipe()
    from_browser, write_answers = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:

        def pipes() -> None:
            # By way of numbers that are free: 3 or 4 may be one of the four themselves.
            free = [fcntl.fcntl(end, fcntl.F_DUPFD, 5) for end in (read_commands, write_answers)]
            for number, end in enumerate(free, 3):
                os.dup2(end, number)

        process = subprocess.Popen(
            [
                command,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
            ],
            preexec_fn=pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        try:
            yield Browser(to_browser, from_browser)
        finally:
            process.kill()
            process.wait()
