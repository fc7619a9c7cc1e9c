"""Output that is there complete or not at all."""

import contextlib
import gzip
import io
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO, cast

from uanet_tf.errors import InputError
from uanet_tf.part_file import part_file

STDOUT = "-"
_OF_A_RUN = {
    "model.keras", "metrics.json", "config.json", "vocabulary.json", "flags.txt",
    "data_hashes.json",
}  # fmt: skip


@contextlib.contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Opens ``path`` for writing UTF-8 text with LF line ends; "-" is standard output.

    A file gets its name only when all is written: until then it has a hidden name in the same
    folder, and after any failure nothing is left and an older file is untouched. So
    the output may also be the file that is being read. A name ending in .gz is gzipped.
    Devices and pipes are written directly.

    Raises:
      InputError: the file cannot be created.
    """
    if path == STDOUT:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        if sys.stdout is None:  # started with its standard output closed
            raise InputError("<stdout>: is closed.")
        yield sys.stdout
        sys.stdout.flush()
        return
    if not path:
        raise InputError("'': an output needs a name; '-' is standard output.")
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise InputError(f"{path}: is a directory, not a file.")
    if os.path.exists(target) and not os.path.isfile(target):
        with _create(target, path) as stream:
            yield stream
        return
    with contextlib.ExitStack() as stack:
        try:
            part = stack.enter_context(part_file(target))
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
        with _written(path), _create(part, path, packed=path.endswith(".gz")) as stream:
            yield stream
        if os.path.exists(target):
            shutil.copymode(target, part)
        os.replace(part, target)


def check_other_file(path: str, inputs: Sequence[str], run_dir: str | None) -> None:
    """For output of another kind than the input: that it replaces none of what it is made of.

    Args:
      path: of the output; "-" is standard output.
      inputs: files that are read.
      run_dir: directory of a run, of which no file may be replaced; None: there is none.

    Raises:
      InputError: it would.
    """
    if path == STDOUT or not os.path.isfile(path):
        return
    for other in inputs:
        if os.path.exists(other) and os.path.samefile(path, other):
            raise InputError(f"--output={path} is the file that is read: name another one.")
    if run_dir is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.basename(path) in _OF_A_RUN and folder == os.path.realpath(run_dir):
        raise InputError(f"--output={path} is a file of the run: name another one.")


@contextlib.contextmanager
def _written(name: str) -> Iterator[None]:
    """Turns what goes wrong in writing, which comes without a file's name, into an InputError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        raise InputError(f"{name}: cannot be written ({error.strerror}).") from None


def _create(path: str, name: str, *, packed: bool = False) -> TextIO:
    try:
        if packed:
            return cast(TextIO, gzip.open(path, "wt", encoding="utf-8", newline="\n"))
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{name}: cannot be written ({error.strerror}).") from None
