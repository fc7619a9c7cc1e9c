"""The ways in which a command may be given its input: each gives a path, and feeds it."""

import contextlib
import gzip
import os
import sys
import threading
import time

SOURCES = ("file", "-", "/dev/stdin", "/dev/fd", "fifo", "gzip", "gzip fifo")


@contextlib.contextmanager
def source(kind, content, folder):
    """Yields the path under which ``content`` can be read once (again only where it is a file)."""
    if kind.startswith("gzip"):
        content = gzip.compress(content)
    if kind in ("file", "gzip"):
        path = folder / ("input" if kind == "file" else "input.gz")
        path.write_bytes(content)
        yield str(path)
    elif kind.endswith("fifo"):
        path = folder / "fifo"
        os.mkfifo(path)
        with _writer(lambda: os.open(path, os.O_WRONLY), content):
            yield str(path)
    else:
        with _descriptor(content) as number:
            if kind == "/dev/fd":  # what a shell makes of <(command)
                yield f"/dev/fd/{number}"
            else:
                with _as_standard_input(number):
                    yield kind


@contextlib.contextmanager
def _descriptor(content):
    reader, writer = os.pipe()
    try:
        with _writer(lambda: writer, content):
            yield reader
    finally:
        os.close(reader)


@contextlib.contextmanager
def _as_standard_input(number):
    saved, stdin = os.dup(0), sys.stdin
    os.dup2(number, 0)
    try:
        with open(0, closefd=False) as sys.stdin:
            yield
    finally:
        sys.stdin = stdin
        os.dup2(saved, 0)
        os.close(saved)


@contextlib.contextmanager
def _writer(opened, content):
    """Writes ``content`` from a thread, its first byte some time before the others."""

    def write():
        number = opened()
        with contextlib.suppress(BrokenPipeError):
            for part in (content[:1], content[1:]):
                while part:
                    part = part[os.write(number, part) :]
                time.sleep(0.02)
        os.close(number)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    yield
    thread.join(10)
    assert not thread.is_alive()
